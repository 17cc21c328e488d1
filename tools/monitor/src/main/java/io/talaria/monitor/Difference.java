// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/**
 * What a counter counted between two values: never negative, never the false number that a reset
 * would give.
 *
 * <p>The rules, in this order. A counter of a network interface has 64 bits and wraps: a value that
 * fell from the last 2<sup>44</sup> of them to the first 2<sup>44</sup> has wrapped, any other that
 * fell was reset. All others stop: at the maximum of its width a counter is stuck. Where the width
 * is not told it is stuck if it stands at 2<sup>64</sup>-1, or twice at 2<sup>32</sup>-1. What fell
 * otherwise was reset.
 *
 * @param change what happened
 * @param amount how much it counted, as an unsigned number in the counter's own words, to be
 *     multiplied by {@link Counter#factor()}; 0 unless it {@link Change#COUNTED}
 */
public record Difference(Change change, long amount) {
  /** Nothing can be said. */
  static final Difference UNKNOWN = new Difference(Change.UNKNOWN, 0);

  private static final Difference RESET = new Difference(Change.RESET, 0);
  private static final Difference STUCK = new Difference(Change.STUCK, 0);

  /** More than any interface carries between two looks: 17 terabytes. */
  private static final long WRAP = 1L << 44;

  private static final long ALL_OF_32 = 0xffff_ffffL;

  /**
   * Compares two values.
   *
   * @param counter whose they are
   * @param before the earlier one, unsigned
   * @param after the later one, unsigned
   * @return what happened between them
   */
  public static Difference of(Counter counter, long before, long after) {
    boolean fell = Long.compareUnsigned(after, before) < 0;
    if (counter.source() == CounterSource.NET) {
      boolean wrapped = before >= -WRAP && before < 0 && after >= 0 && after < WRAP;
      return fell && !wrapped ? RESET : new Difference(Change.COUNTED, after - before);
    }
    if (stuck(counter, before, after)) {
      return STUCK;
    }
    return fell ? RESET : new Difference(Change.COUNTED, after - before);
  }

  /**
   * Whether a counter stands at its maximum, as far as one value can tell.
   *
   * @param counter whose it is
   * @param value its value, unsigned
   * @return whether it certainly no longer counts
   */
  public static boolean stuck(Counter counter, long value) {
    return counter.source() != CounterSource.NET
        && value == (counter.bits() == 0 ? -1L : counter.maximum());
  }

  private static boolean stuck(Counter counter, long before, long after) {
    return stuck(counter, after)
        || (counter.bits() == 0 && after == ALL_OF_32 && before == ALL_OF_32);
  }
}
