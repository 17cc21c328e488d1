// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Memory by address, unchecked: the caller knows that it is there. Allocates nothing; the one
 * segment behind it is a constant of the compiler.
 */
public final class Raw {
  /** All of the address space. */
  public static final MemorySegment MEMORY = everything();

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private Raw() {}

  @SuppressWarnings("restricted")
  private static MemorySegment everything() {
    return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  }

  /**
   * Reads an aligned word.
   *
   * @param address a multiple of 8
   * @return 64 bits
   */
  public static long word(long address) {
    return MEMORY.get(JAVA_LONG, address);
  }

  /**
   * Writes an aligned word.
   *
   * @param address a multiple of 8
   * @param value 64 bits
   */
  public static void word(long address, long value) {
    MEMORY.set(JAVA_LONG, address, value);
  }

  /**
   * Reads an aligned half-word.
   *
   * @param address a multiple of 4
   * @return 32 bits
   */
  public static int half(long address) {
    return MEMORY.get(JAVA_INT, address);
  }

  /**
   * Writes an aligned half-word.
   *
   * @param address a multiple of 4
   * @param value 32 bits
   */
  public static void half(long address, int value) {
    MEMORY.set(JAVA_INT, address, value);
  }

  /**
   * Reads a byte.
   *
   * @param address any
   * @return 8 bits
   */
  public static byte byteAt(long address) {
    return MEMORY.get(JAVA_BYTE, address);
  }

  /**
   * Reads an int at any address, in the native byte order.
   *
   * @param address any
   * @return 32 bits
   */
  public static int intAt(long address) {
    return MEMORY.get(INT, address);
  }

  /**
   * Reads a long at any address, in the native byte order.
   *
   * @param address any
   * @return 64 bits
   */
  public static long longAt(long address) {
    return MEMORY.get(LONG, address);
  }

  /**
   * Copies bytes, which must not overlap.
   *
   * @param from an address
   * @param to where to
   * @param offset where in it
   * @param length how many
   */
  public static void copy(long from, MemorySegment to, long offset, long length) {
    MemorySegment.copy(MEMORY, from, to, offset, length);
  }

  /**
   * Copies bytes.
   *
   * @param from an address
   * @param to where to
   * @param offset where in it
   * @param length how many
   */
  public static void copy(long from, byte[] to, int offset, int length) {
    MemorySegment.copy(MEMORY, JAVA_BYTE, from, to, offset, length);
  }
}
