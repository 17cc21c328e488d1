// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An array that is sent, of a power of two of bytes. It is filled with longs, the object's number
 * and those after it; one of less than 8 bytes has as much of its number as fits.
 *
 * @param bytes the array
 */
@SuppressWarnings("ArrayRecordComponent") // compared by what is in it
public record Block(byte[] bytes) {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Returns the one of a number. */
  public static Block of(int sizeBytes, long number) {
    byte[] bytes = new byte[sizeBytes];
    if (sizeBytes < Long.BYTES) {
      for (int i = 0; i < sizeBytes; i++) {
        bytes[i] = (byte) (number >>> (Byte.SIZE * i));
      }
    }
    for (int at = 0; at + Long.BYTES <= sizeBytes; at += Long.BYTES) {
      LONG.set(bytes, at, number + at / Long.BYTES);
    }
    return new Block(bytes);
  }

  /** What of a number an array of a size has. */
  public static long mask(int sizeBytes) {
    return sizeBytes < Long.BYTES ? (1L << (Byte.SIZE * sizeBytes)) - 1 : -1;
  }

  /** What {@link #sum()} is for a number. */
  public static long sum(int sizeBytes, long number) {
    long longs = sizeBytes / Long.BYTES;
    return longs == 0 ? number & mask(sizeBytes) : longs * number + longs * (longs - 1) / 2;
  }

  /** Returns what of its number it has, as {@link Receipt#take(long, long, long)} takes it. */
  public long mask() {
    return mask(bytes.length);
  }

  /** Its number, as far as {@link #mask()} says. */
  public long number() {
    if (bytes.length >= Long.BYTES) {
      return (long) LONG.get(bytes, 0);
    }
    long number = 0;
    for (int i = 0; i < bytes.length; i++) {
      number |= (bytes[i] & 0xffL) << (Byte.SIZE * i);
    }
    return number;
  }

  /** Returns what its bytes add up to. */
  public long sum() {
    if (bytes.length < Long.BYTES) {
      return number();
    }
    long sum = 0;
    for (int at = 0; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
      sum += (long) LONG.get(bytes, at);
    }
    return sum;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Block block && Arrays.equals(bytes, block.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return bytes.length + " bytes from " + number();
  }
}
