// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Copies of a few bytes, for which a loop is faster than the general copy and its checks. */
final class ShortCopies {
  /** Longest copy, bytes. */
  static final int MAX_BYTES = 64;

  private static final VarHandle LONGS_IN_BYTES =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final ValueLayout.OfInt INTS = ValueLayout.JAVA_INT_UNALIGNED;
  private static final ValueLayout.OfLong LONGS = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfFloat FLOATS = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfDouble DOUBLES = ValueLayout.JAVA_DOUBLE_UNALIGNED;

  private ShortCopies() {}

  /** Copies elements of an array out; false if it is of a type that has no loop here. */
  static boolean get(Object buffer, int i, int count, MemorySegment to, long at) {
    if (buffer instanceof byte[] a) {
      int k = 0;
      for (; k <= count - 8; k += 8) {
        to.set(LONGS, at + k, (long) LONGS_IN_BYTES.get(a, i + k));
      }
      for (; k < count; k++) {
        to.set(ValueLayout.JAVA_BYTE, at + k, a[i + k]);
      }
      return true;
    }
    if (buffer instanceof int[] a) {
      for (int k = 0; k < count; k++) {
        to.set(INTS, at + ((long) k << 2), a[i + k]);
      }
      return true;
    }
    if (buffer instanceof long[] a) {
      for (int k = 0; k < count; k++) {
        to.set(LONGS, at + ((long) k << 3), a[i + k]);
      }
      return true;
    }
    if (buffer instanceof double[] a) {
      for (int k = 0; k < count; k++) {
        to.set(DOUBLES, at + ((long) k << 3), a[i + k]);
      }
      return true;
    }
    if (buffer instanceof float[] a) {
      for (int k = 0; k < count; k++) {
        to.set(FLOATS, at + ((long) k << 2), a[i + k]);
      }
      return true;
    }
    return false;
  }

  /** Copies elements into an array; false if it is of a type that has no loop here. */
  static boolean put(Object buffer, int i, int count, MemorySegment from, long at) {
    if (buffer instanceof byte[] a) {
      int k = 0;
      for (; k <= count - 8; k += 8) {
        LONGS_IN_BYTES.set(a, i + k, from.get(LONGS, at + k));
      }
      for (; k < count; k++) {
        a[i + k] = from.get(ValueLayout.JAVA_BYTE, at + k);
      }
      return true;
    }
    if (buffer instanceof int[] a) {
      for (int k = 0; k < count; k++) {
        a[i + k] = from.get(INTS, at + ((long) k << 2));
      }
      return true;
    }
    if (buffer instanceof long[] a) {
      for (int k = 0; k < count; k++) {
        a[i + k] = from.get(LONGS, at + ((long) k << 3));
      }
      return true;
    }
    if (buffer instanceof double[] a) {
      for (int k = 0; k < count; k++) {
        a[i + k] = from.get(DOUBLES, at + ((long) k << 3));
      }
      return true;
    }
    if (buffer instanceof float[] a) {
      for (int k = 0; k < count; k++) {
        a[i + k] = from.get(FLOATS, at + ((long) k << 2));
      }
      return true;
    }
    return false;
  }
}
