// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MessageReader;
import io.talaria.messaging.MessageWriter;
import java.util.UUID;

/** The types that need only one call of {@link MessageWriter} and one of {@link MessageReader}. */
enum SimpleCodec implements Codec<Object> {
  STRING(String.class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfString((String) value);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putString((String) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getString();
    }
  },
  UUIDS(UUID.class) {
    @Override
    public int size(Object value) {
      return 2 * Long.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      UUID id = (UUID) value;
      out.putLong(id.getMostSignificantBits());
      out.putLong(id.getLeastSignificantBits());
    }

    @Override
    public Object read(MessageReader in) {
      return new UUID(in.getLong(), in.getLong());
    }
  },
  BOOLEAN(Boolean.class) {
    @Override
    public int size(Object value) {
      return 1;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putBoolean((Boolean) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getBoolean();
    }
  },
  BOOLEANS(boolean[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((boolean[]) value).length, 1);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putBooleans((boolean[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getBooleans();
    }
  },
  BYTE(Byte.class) {
    @Override
    public int size(Object value) {
      return 1;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putByte((Byte) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getByte();
    }
  },
  BYTES(byte[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((byte[]) value).length, 1);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putBytes((byte[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getBytes();
    }
  },
  SHORT(Short.class) {
    @Override
    public int size(Object value) {
      return Short.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putShort((Short) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getShort();
    }
  },
  SHORTS(short[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((short[]) value).length, Short.BYTES);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putShorts((short[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getShorts();
    }
  },
  CHARACTER(Character.class) {
    @Override
    public int size(Object value) {
      return Character.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putChar((Character) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getChar();
    }
  },
  CHARS(char[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((char[]) value).length, Character.BYTES);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putChars((char[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getChars();
    }
  },
  INTEGER(Integer.class) {
    @Override
    public int size(Object value) {
      return Integer.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putInt((Integer) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getInt();
    }
  },
  INTS(int[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((int[]) value).length, Integer.BYTES);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putInts((int[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getInts();
    }
  },
  LONG(Long.class) {
    @Override
    public int size(Object value) {
      return Long.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putLong((Long) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getLong();
    }
  },
  LONGS(long[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((long[]) value).length, Long.BYTES);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putLongs((long[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getLongs();
    }
  },
  FLOAT(Float.class) {
    @Override
    public int size(Object value) {
      return Float.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putFloat((Float) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getFloat();
    }
  },
  FLOATS(float[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((float[]) value).length, Float.BYTES);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putFloats((float[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getFloats();
    }
  },
  DOUBLE(Double.class) {
    @Override
    public int size(Object value) {
      return Double.BYTES;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putDouble((Double) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getDouble();
    }
  },
  DOUBLES(double[].class) {
    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfArray(((double[]) value).length, Double.BYTES);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putDoubles((double[]) value);
    }

    @Override
    public Object read(MessageReader in) {
      return in.getDoubles();
    }
  };

  private final Class<?> type;

  SimpleCodec(Class<?> type) {
    this.type = type;
  }

  String form() {
    return type.getSimpleName();
  }

  static SimpleCodec of(Class<?> type) {
    for (SimpleCodec each : values()) {
      if (each.type == type) {
        return each;
      }
    }
    return null;
  }
}
