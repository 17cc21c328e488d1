// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.datatype.BaseType;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Arrays that reductions use again: a new one of some MiB costs as much as the reduction, because
 * the JVM fills it with zeros. A few are kept for all communicators of a rank.
 */
final class Scratch {
  /** Below this a new array costs less than to look for one. */
  private static final int MIN_BYTES = 1024;

  /** Larger ones are left to the garbage collector. */
  static final int MAX_BYTES = 16 << 20;

  static final int MAX_KEPT = 2;

  private static final AtomicReferenceArray<Object> KEPT = new AtomicReferenceArray<>(MAX_KEPT);

  /** The next one to be replaced; a race only replaces another one. */
  private static int oldest;

  private Scratch() {}

  /**
   * An array with any content, for this thread alone.
   *
   * @param base type of its elements
   * @param elements how many at least
   */
  static Object take(BaseType base, int elements) {
    if (keeps(base, elements)) {
      for (int i = 0; i < MAX_KEPT; i++) {
        Object array = KEPT.get(i);
        if (base.lengthOf(array) >= elements && KEPT.compareAndSet(i, array, null)) {
          return array;
        }
      }
    }
    return base.newArray(elements);
  }

  /**
   * Gives an array back. Nothing may read or write it any more: so after a failed call, whose
   * messages may be under way still, it is not given back.
   *
   * @param base type of its elements
   * @param array from {@link #take}
   */
  static void give(BaseType base, Object array) {
    if (!keeps(base, base.lengthOf(array))) {
      return;
    }
    for (int i = 0; i < MAX_KEPT; i++) {
      if (KEPT.compareAndSet(i, null, array)) {
        return;
      }
    }
    oldest = (oldest + 1) % MAX_KEPT;
    KEPT.set(oldest, array);
  }

  private static boolean keeps(BaseType base, long elements) {
    long bytes = elements * base.bytes();
    return base != BaseType.OBJECT && bytes >= MIN_BYTES && bytes <= MAX_BYTES;
  }
}
