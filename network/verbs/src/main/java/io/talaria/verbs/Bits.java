// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.CStruct;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Objects;

/** Byte orders, zeroed structures, and checks of what programs hand in. */
final class Bits {
  private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private Bits() {}

  /** To network order, or back. */
  static long networkLong(long value) {
    return LITTLE ? Long.reverseBytes(value) : value;
  }

  /** To network order, or back. */
  static int networkInt(int value) {
    return LITTLE ? Integer.reverseBytes(value) : value;
  }

  /** To network order, or back. */
  static int networkShort(int value) {
    return (LITTLE ? Short.reverseBytes((short) value) : (short) value) & 0xffff;
  }

  /** A constant by the number that C gives it, or another one if there is none of this number. */
  static <E extends Enum<E>> E constant(E[] all, int code, E other) {
    return code >= 0 && code < all.length ? all[code] : other;
  }

  /** Two 16-bit fields that follow each other, as one of 32. */
  static int pair(int first, int second) {
    return LITTLE ? first | (second << 16) : (first << 16) | second;
  }

  static MemorySegment zeroed(Arena arena, CStruct struct) {
    return arena.allocate(struct.layout());
  }

  static int inRange(int value, int least, int most, String what) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          what + " is " + value + ", but must be from " + least + " to " + most);
    }
    return value;
  }

  /** Memory that the device may use: native, alive, and writable if that is asked for. */
  static MemorySegment usable(MemorySegment memory, boolean writing) {
    Objects.requireNonNull(memory, "memory");
    if (!memory.isNative()) {
      throw new IllegalArgumentException(
          "the memory is on the heap; a device needs that of an Arena or a direct ByteBuffer");
    }
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("the arena of the memory is closed: " + memory);
    }
    if (writing && memory.isReadOnly()) {
      throw new IllegalArgumentException("the memory is read-only: " + memory);
    }
    return memory;
  }
}
