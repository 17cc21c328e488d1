// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_CHAR_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Copies elements between an array of one type and memory, in native byte order. For a few bytes a
 * loop is faster than the general copy and its checks.
 *
 * <p>A class for each type, so that the JIT compilers see those that the program uses: with all
 * types in one method the code of the first compiler took 170 KB and a tenth of a second, on the
 * core of a rank that had just started.
 */
abstract class ArrayCopy {
  /** Longest copy by a loop, bytes. */
  private static final int LOOP_BYTES = 64;

  /**
   * For the arrays of a type.
   *
   * @throws IllegalStateException if it is of objects
   */
  static ArrayCopy of(BaseType type) {
    return switch (type) {
      case BYTE, PACKED -> new Bytes();
      case CHAR -> new Chars();
      case SHORT -> new Shorts();
      case BOOLEAN -> new Booleans();
      case INT -> new Ints();
      case LONG -> new Longs();
      case FLOAT -> new Floats();
      case DOUBLE -> new Doubles();
      case OBJECT, NULL -> throw new IllegalStateException("no bytes in " + type);
    };
  }

  /** Copies elements out to memory. */
  abstract void get(Object array, int index, int count, MemorySegment to, long at);

  /** Copies elements from memory. */
  abstract void put(Object array, int index, int count, MemorySegment from, long at);

  private static final class Bytes extends ArrayCopy {
    private static final VarHandle LONGS =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      byte[] a = (byte[]) array;
      if (count > LOOP_BYTES) {
        MemorySegment.copy(a, index, to, JAVA_BYTE, at, count);
        return;
      }
      int k = 0;
      for (; k <= count - 8; k += 8) {
        to.set(JAVA_LONG_UNALIGNED, at + k, (long) LONGS.get(a, index + k));
      }
      for (; k < count; k++) {
        to.set(JAVA_BYTE, at + k, a[index + k]);
      }
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      byte[] a = (byte[]) array;
      if (count > LOOP_BYTES) {
        MemorySegment.copy(from, JAVA_BYTE, at, a, index, count);
        return;
      }
      int k = 0;
      for (; k <= count - 8; k += 8) {
        LONGS.set(a, index + k, from.get(JAVA_LONG_UNALIGNED, at + k));
      }
      for (; k < count; k++) {
        a[index + k] = from.get(JAVA_BYTE, at + k);
      }
    }
  }

  private static final class Chars extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      MemorySegment.copy(array, index, to, JAVA_CHAR_UNALIGNED, at, count);
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      MemorySegment.copy(from, JAVA_CHAR_UNALIGNED, at, array, index, count);
    }
  }

  private static final class Shorts extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      MemorySegment.copy(array, index, to, JAVA_SHORT_UNALIGNED, at, count);
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      MemorySegment.copy(from, JAVA_SHORT_UNALIGNED, at, array, index, count);
    }
  }

  private static final class Booleans extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      boolean[] a = (boolean[]) array;
      for (int k = 0; k < count; k++) {
        to.set(JAVA_BYTE, at + k, (byte) (a[index + k] ? 1 : 0));
      }
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      boolean[] a = (boolean[]) array;
      for (int k = 0; k < count; k++) {
        a[index + k] = from.get(JAVA_BYTE, at + k) != 0;
      }
    }
  }

  private static final class Ints extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      int[] a = (int[]) array;
      if (count > LOOP_BYTES / Integer.BYTES) {
        MemorySegment.copy(a, index, to, JAVA_INT_UNALIGNED, at, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        to.set(JAVA_INT_UNALIGNED, at + ((long) k << 2), a[index + k]);
      }
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      int[] a = (int[]) array;
      if (count > LOOP_BYTES / Integer.BYTES) {
        MemorySegment.copy(from, JAVA_INT_UNALIGNED, at, a, index, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        a[index + k] = from.get(JAVA_INT_UNALIGNED, at + ((long) k << 2));
      }
    }
  }

  private static final class Longs extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      long[] a = (long[]) array;
      if (count > LOOP_BYTES / Long.BYTES) {
        MemorySegment.copy(a, index, to, JAVA_LONG_UNALIGNED, at, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        to.set(JAVA_LONG_UNALIGNED, at + ((long) k << 3), a[index + k]);
      }
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      long[] a = (long[]) array;
      if (count > LOOP_BYTES / Long.BYTES) {
        MemorySegment.copy(from, JAVA_LONG_UNALIGNED, at, a, index, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        a[index + k] = from.get(JAVA_LONG_UNALIGNED, at + ((long) k << 3));
      }
    }
  }

  private static final class Floats extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      float[] a = (float[]) array;
      if (count > LOOP_BYTES / Float.BYTES) {
        MemorySegment.copy(a, index, to, JAVA_FLOAT_UNALIGNED, at, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        to.set(JAVA_FLOAT_UNALIGNED, at + ((long) k << 2), a[index + k]);
      }
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      float[] a = (float[]) array;
      if (count > LOOP_BYTES / Float.BYTES) {
        MemorySegment.copy(from, JAVA_FLOAT_UNALIGNED, at, a, index, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        a[index + k] = from.get(JAVA_FLOAT_UNALIGNED, at + ((long) k << 2));
      }
    }
  }

  private static final class Doubles extends ArrayCopy {
    @Override
    void get(Object array, int index, int count, MemorySegment to, long at) {
      double[] a = (double[]) array;
      if (count > LOOP_BYTES / Double.BYTES) {
        MemorySegment.copy(a, index, to, JAVA_DOUBLE_UNALIGNED, at, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        to.set(JAVA_DOUBLE_UNALIGNED, at + ((long) k << 3), a[index + k]);
      }
    }

    @Override
    void put(Object array, int index, int count, MemorySegment from, long at) {
      double[] a = (double[]) array;
      if (count > LOOP_BYTES / Double.BYTES) {
        MemorySegment.copy(from, JAVA_DOUBLE_UNALIGNED, at, a, index, count);
        return;
      }
      for (int k = 0; k < count; k++) {
        a[index + k] = from.get(JAVA_DOUBLE_UNALIGNED, at + ((long) k << 3));
      }
    }
  }
}
