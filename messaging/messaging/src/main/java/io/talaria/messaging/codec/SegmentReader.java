// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.MalformedMessageException;
import io.talaria.messaging.MessageReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Reads a message from a part of a memory segment. For one thread at a time; reusable. */
public final class SegmentReader implements MessageReader {
  private static final int MAX_DEPTH = 64;

  private MemorySegment memory = MemorySegment.NULL;
  private long at;
  private long end;
  private int depth;

  /**
   * Starts to read a message.
   *
   * @param offset where the message begins in the memory
   * @param bytes its length
   */
  public SegmentReader over(MemorySegment memory, long offset, int bytes) {
    this.memory = memory;
    at = offset;
    end = offset + bytes;
    depth = 0;
    return this;
  }

  /** Drops the reference to the memory. */
  public void done() {
    memory = MemorySegment.NULL;
    at = 0;
    end = 0;
  }

  /** Checks that the message was read to its end. */
  public void expectEnd() {
    if (at != end) {
      throw new MalformedMessageException((end - at) + " bytes behind the message");
    }
  }

  private long next(long bytes) {
    long begin = at;
    if (end - begin < bytes) {
      throw overrun(bytes);
    }
    at = begin + bytes;
    return begin;
  }

  private MalformedMessageException overrun(long bytes) {
    return new MalformedMessageException(
        "the message ends: " + bytes + " bytes expected, " + (end - at) + " are left");
  }

  @Override
  public byte getByte() {
    return memory.get(ValueLayout.JAVA_BYTE, next(1));
  }

  @Override
  public boolean getBoolean() {
    byte value = getByte();
    if ((value & ~1) != 0) {
      throw new MalformedMessageException("a boolean is " + value);
    }
    return value != 0;
  }

  @Override
  public short getShort() {
    return memory.get(SegmentWriter.SHORT, next(Short.BYTES));
  }

  @Override
  public char getChar() {
    return memory.get(SegmentWriter.CHAR, next(Character.BYTES));
  }

  @Override
  public int getInt() {
    return memory.get(SegmentWriter.INT, next(Integer.BYTES));
  }

  @Override
  public long getLong() {
    return memory.get(SegmentWriter.LONG, next(Long.BYTES));
  }

  @Override
  public float getFloat() {
    return memory.get(SegmentWriter.FLOAT, next(Float.BYTES));
  }

  @Override
  public double getDouble() {
    return memory.get(SegmentWriter.DOUBLE, next(Double.BYTES));
  }

  @Override
  public int getVarInt() {
    int folded = variable();
    return folded >>> 1 ^ -(folded & 1);
  }

  private int variable() {
    int value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      byte next = getByte();
      value |= (next & 0x7f) << shift;
      if (next >= 0) {
        if (shift == 28 && (next & 0x70) != 0) {
          break;
        }
        return value;
      }
    }
    throw new MalformedMessageException("a varint has more than 32 bits");
  }

  @Override
  public long getVarLong() {
    long folded = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      byte next = getByte();
      folded |= (next & 0x7fL) << shift;
      if (next >= 0) {
        if (shift == 63 && (next & 0x7e) != 0) {
          break;
        }
        return folded >>> 1 ^ -(folded & 1);
      }
    }
    throw new MalformedMessageException("a varint has more than 64 bits");
  }

  @Override
  public int getLength(int elementBytes) {
    int length = variable();
    if (length < 0 || (long) length * elementBytes > end - at) {
      throw new MalformedMessageException(
          "a length of "
              + Integer.toUnsignedString(length)
              + " elements of at least "
              + elementBytes
              + " bytes, "
              + (end - at)
              + " bytes are left");
    }
    return length;
  }

  @Override
  public int getVarUnsigned() {
    return variable();
  }

  @Override
  public String getString() {
    int length = getLength(1);
    byte[] bytes = new byte[length];
    getArray(bytes, length, ValueLayout.JAVA_BYTE);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Reads the elements of an array whose length was already read. */
  private void getArray(Object array, int length, ValueLayout layout) {
    long from = next(length * layout.byteSize());
    MemorySegment.copy(memory, layout, from, array, 0, length);
  }

  @Override
  public byte[] getBytes() {
    byte[] value = new byte[getLength(Byte.BYTES)];
    getArray(value, value.length, ValueLayout.JAVA_BYTE);
    return value;
  }

  @Override
  public boolean[] getBooleans() {
    boolean[] value = new boolean[getLength(1)];
    for (int i = 0; i < value.length; i++) {
      value[i] = getBoolean();
    }
    return value;
  }

  @Override
  public short[] getShorts() {
    short[] value = new short[getLength(Short.BYTES)];
    getArray(value, value.length, SegmentWriter.SHORT);
    return value;
  }

  @Override
  public char[] getChars() {
    char[] value = new char[getLength(Character.BYTES)];
    getArray(value, value.length, SegmentWriter.CHAR);
    return value;
  }

  @Override
  public int[] getInts() {
    int[] value = new int[getLength(Integer.BYTES)];
    getArray(value, value.length, SegmentWriter.INT);
    return value;
  }

  @Override
  public long[] getLongs() {
    long[] value = new long[getLength(Long.BYTES)];
    getArray(value, value.length, SegmentWriter.LONG);
    return value;
  }

  @Override
  public float[] getFloats() {
    float[] value = new float[getLength(Float.BYTES)];
    getArray(value, value.length, SegmentWriter.FLOAT);
    return value;
  }

  @Override
  public double[] getDoubles() {
    double[] value = new double[getLength(Double.BYTES)];
    getArray(value, value.length, SegmentWriter.DOUBLE);
    return value;
  }

  @Override
  public int remaining() {
    return (int) (end - at);
  }

  @Override
  public void enter() {
    if (++depth > MAX_DEPTH) {
      throw new MalformedMessageException("more than " + MAX_DEPTH + " objects in one another");
    }
  }

  @Override
  public void leave() {
    depth--;
  }
}
