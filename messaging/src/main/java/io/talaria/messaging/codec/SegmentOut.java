// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.Out;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Writes into a part of some memory. For one thread; used again and again. */
public final class SegmentOut implements Out {
  static final ValueLayout.OfShort SHORT = little(ValueLayout.JAVA_SHORT_UNALIGNED);
  static final ValueLayout.OfChar CHAR =
      ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private MemorySegment memory = MemorySegment.NULL;
  private long at;
  private long end;

  private static ValueLayout.OfShort little(ValueLayout.OfShort layout) {
    return layout.withOrder(ByteOrder.LITTLE_ENDIAN);
  }

  /** Begins to write. */
  public SegmentOut over(MemorySegment memory, long offset, int bytes) {
    this.memory = memory;
    at = offset;
    end = offset + bytes;
    return this;
  }

  /** Lets go of the memory. */
  public void done() {
    memory = MemorySegment.NULL;
    at = 0;
    end = 0;
  }

  private long next(long bytes) {
    long begin = at;
    if (end - begin < bytes) {
      throw overrun(bytes);
    }
    at = begin + bytes;
    return begin;
  }

  private IndexOutOfBoundsException overrun(long bytes) {
    return new IndexOutOfBoundsException(
        "the codec writes more than its size said: "
            + bytes
            + " more bytes, "
            + (end - at)
            + " are left");
  }

  @Override
  public void putByte(byte value) {
    memory.set(ValueLayout.JAVA_BYTE, next(1), value);
  }

  @Override
  public void putBoolean(boolean value) {
    putByte((byte) (value ? 1 : 0));
  }

  @Override
  public void putShort(short value) {
    memory.set(SHORT, next(Short.BYTES), value);
  }

  @Override
  public void putChar(char value) {
    memory.set(CHAR, next(Character.BYTES), value);
  }

  @Override
  public void putInt(int value) {
    memory.set(INT, next(Integer.BYTES), value);
  }

  @Override
  public void putLong(long value) {
    memory.set(LONG, next(Long.BYTES), value);
  }

  @Override
  public void putFloat(float value) {
    memory.set(FLOAT, next(Float.BYTES), value);
  }

  @Override
  public void putDouble(double value) {
    memory.set(DOUBLE, next(Double.BYTES), value);
  }

  @Override
  public void putCompactInt(int value) {
    putLength(value << 1 ^ value >> 31);
  }

  @Override
  public void putCompactLong(long value) {
    long left = value << 1 ^ value >> 63;
    while ((left & -0x80L) != 0) {
      putByte((byte) (left | 0x80));
      left >>>= 7;
    }
    putByte((byte) left);
  }

  @Override
  public void putLength(int length) {
    int left = length;
    while ((left & -0x80) != 0) {
      putByte((byte) (left | 0x80));
      left >>>= 7;
    }
    putByte((byte) left);
  }

  @Override
  public void putString(String value) {
    int length = value.length();
    int body = Out.utf8Bytes(value);
    putLength(body);
    if (body == length) {
      long begin = next(length);
      for (int i = 0; i < length; i++) {
        memory.set(ValueLayout.JAVA_BYTE, begin + i, (byte) value.charAt(i));
      }
      return;
    }
    for (int i = 0; i < length; i++) {
      char c = value.charAt(i);
      if (c < 0x80) {
        putByte((byte) c);
      } else if (c < 0x800) {
        putByte((byte) (0xc0 | (c >> 6)));
        putByte((byte) (0x80 | (c & 0x3f)));
      } else if (!Character.isSurrogate(c)) {
        putByte((byte) (0xe0 | (c >> 12)));
        putByte((byte) (0x80 | ((c >> 6) & 0x3f)));
        putByte((byte) (0x80 | (c & 0x3f)));
      } else if (Character.isHighSurrogate(c)
          && i + 1 < length
          && Character.isLowSurrogate(value.charAt(i + 1))) {
        int point = Character.toCodePoint(c, value.charAt(++i));
        putByte((byte) (0xf0 | (point >> 18)));
        putByte((byte) (0x80 | ((point >> 12) & 0x3f)));
        putByte((byte) (0x80 | ((point >> 6) & 0x3f)));
        putByte((byte) (0x80 | (point & 0x3f)));
      } else {
        putByte((byte) '?');
      }
    }
  }

  @Override
  public void putBytes(byte[] value) {
    putLength(value.length);
    MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, next(value.length), value.length);
  }

  @Override
  public void putBooleans(boolean[] value) {
    putLength(value.length);
    for (boolean each : value) {
      putBoolean(each);
    }
  }

  @Override
  public void putShorts(short[] value) {
    putLength(value.length);
    MemorySegment.copy(
        value, 0, memory, SHORT, next((long) value.length * Short.BYTES), value.length);
  }

  @Override
  public void putChars(char[] value) {
    putLength(value.length);
    MemorySegment.copy(
        value, 0, memory, CHAR, next((long) value.length * Character.BYTES), value.length);
  }

  @Override
  public void putInts(int[] value) {
    putLength(value.length);
    MemorySegment.copy(
        value, 0, memory, INT, next((long) value.length * Integer.BYTES), value.length);
  }

  @Override
  public void putLongs(long[] value) {
    putLength(value.length);
    MemorySegment.copy(
        value, 0, memory, LONG, next((long) value.length * Long.BYTES), value.length);
  }

  @Override
  public void putFloats(float[] value) {
    putLength(value.length);
    MemorySegment.copy(
        value, 0, memory, FLOAT, next((long) value.length * Float.BYTES), value.length);
  }

  @Override
  public void putDoubles(double[] value) {
    putLength(value.length);
    MemorySegment.copy(
        value, 0, memory, DOUBLE, next((long) value.length * Double.BYTES), value.length);
  }

  @Override
  public int remaining() {
    return (int) (end - at);
  }
}
