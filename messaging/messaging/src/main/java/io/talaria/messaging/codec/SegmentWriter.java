// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.MessageWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Writes a message into a part of a memory segment. For one thread at a time; reusable. */
public final class SegmentWriter implements MessageWriter {
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

  /** Supplies the next memory when the current one is full. */
  public interface Overflow {
    /**
     * Accepts what was written, and calls {@link SegmentWriter#over(MemorySegment, long, int, int,
     * Overflow)} with the next memory.
     *
     * @param used bytes written since that method was last called
     */
    void full(SegmentWriter out, int used);
  }

  private MemorySegment memory = MemorySegment.NULL;
  private long begin;
  private long at;
  private long end;

  /**
   * The number of bytes to write after this memory is full; {@link #overflow} supplies their
   * memory.
   */
  private int behind;

  private Overflow overflow;

  private static ValueLayout.OfShort little(ValueLayout.OfShort layout) {
    return layout.withOrder(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Starts to write a message.
   *
   * @param offset where the message begins in the memory
   * @param bytes its length
   */
  public SegmentWriter over(MemorySegment memory, long offset, int bytes) {
    over(memory, offset, bytes, 0, null);
    return this;
  }

  /**
   * Starts or continues a message that does not fit into one piece of memory.
   *
   * @param offset where this piece begins in the memory
   * @param bytes the length of this piece
   * @param behind how many bytes of the message follow after this piece
   * @param overflow supplies the next piece; a value of up to 8 bytes never spans two pieces
   */
  public void over(MemorySegment memory, long offset, int bytes, int behind, Overflow overflow) {
    this.memory = memory;
    begin = offset;
    at = offset;
    end = offset + bytes;
    this.behind = behind;
    this.overflow = overflow;
  }

  /** Drops the reference to the memory. */
  public void done() {
    over(MemorySegment.NULL, 0, 0, 0, null);
  }

  private long next(long bytes) {
    long from = at;
    if (end - from < bytes) {
      from = nextMemory(bytes);
    }
    at = from + bytes;
    return from;
  }

  private long nextMemory(long bytes) {
    if (overflow == null || remaining() < bytes) {
      throw overrun(bytes);
    }
    overflow.full(this, (int) (at - begin));
    if (end - at < bytes) {
      throw overrun(bytes);
    }
    return at;
  }

  /**
   * How many elements to write next: as many as this memory has room for, but at least one, for
   * which {@link #next} then gets the next memory.
   */
  private int portion(int left, int shift) {
    return Math.clamp((end - at) >>> shift, 1, left);
  }

  private IndexOutOfBoundsException overrun(long bytes) {
    return new IndexOutOfBoundsException(
        "the codec writes more than its size said: "
            + bytes
            + " more bytes, "
            + remaining()
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
  public void putVarInt(int value) {
    putLength(value << 1 ^ value >> 31);
  }

  @Override
  public void putVarLong(long value) {
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
    int body = MessageWriter.utf8Bytes(value);
    putLength(body);
    if (body == length) {
      for (int done = 0; done < length; ) {
        int portion = portion(length - done, 0);
        long to = next(portion);
        for (int i = 0; i < portion; i++) {
          memory.set(ValueLayout.JAVA_BYTE, to + i, (byte) value.charAt(done + i));
        }
        done += portion;
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

  /** Writes an array's length and its elements, each of {@code 1 << shift} bytes. */
  private void putArray(Object array, int length, ValueLayout layout, int shift) {
    putLength(length);
    for (int done = 0; done < length; ) {
      int portion = portion(length - done, shift);
      long to = next((long) portion << shift);
      MemorySegment.copy(array, done, memory, layout, to, portion);
      done += portion;
    }
  }

  @Override
  public void putBytes(byte[] value) {
    putArray(value, value.length, ValueLayout.JAVA_BYTE, 0);
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
    putArray(value, value.length, SHORT, 1);
  }

  @Override
  public void putChars(char[] value) {
    putArray(value, value.length, CHAR, 1);
  }

  @Override
  public void putInts(int[] value) {
    putArray(value, value.length, INT, 2);
  }

  @Override
  public void putLongs(long[] value) {
    putArray(value, value.length, LONG, 3);
  }

  @Override
  public void putFloats(float[] value) {
    putArray(value, value.length, FLOAT, 2);
  }

  @Override
  public void putDoubles(double[] value) {
    putArray(value, value.length, DOUBLE, 3);
  }

  @Override
  public int remaining() {
    return (int) (end - at) + behind;
  }
}
