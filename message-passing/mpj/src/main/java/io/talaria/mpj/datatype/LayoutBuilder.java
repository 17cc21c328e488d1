// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import java.util.Arrays;

/** Puts layouts together. */
public final class LayoutBuilder {
  private final BaseType base;
  private int[] starts = new int[8];
  private int[] lengths = new int[8];
  private int count;
  private int lower = Integer.MAX_VALUE;
  private int upper = Integer.MIN_VALUE;
  private boolean lowerSet;
  private boolean upperSet;

  /**
   * Starts empty.
   *
   * @param base type of all elements
   */
  public LayoutBuilder(BaseType base) {
    this.base = base;
  }

  /**
   * Adds copies of a layout one extent apart.
   *
   * @param part the layout
   * @param copies how many
   * @param at where the first begins, elements
   * @throws ArithmeticException if a place is no int
   */
  public void add(Layout part, int copies, int at) {
    if (part.dense() && copies > 0) {
      // All are one run.
      int length = Math.multiplyExact(copies, part.size());
      run(at, length);
      bounds(part, at);
      bounds(part, Math.addExact(at, length) - part.size());
      return;
    }
    for (int k = 0; k < copies; k++) {
      int origin = Math.addExact(at, Math.multiplyExact(k, part.extent()));
      for (int i = 0; i < part.runs(); i++) {
        run(Math.addExact(origin, part.start(i)), part.length(i));
      }
      bounds(part, origin);
    }
  }

  /** Counts the bounds of a part; from the first one on that was set, only those that were set. */
  private void bounds(Layout part, int origin) {
    int low = Math.addExact(origin, part.lower());
    int high = Math.addExact(origin, part.upper());
    if (part.lowerSet()) {
      lower(low);
    } else if (!lowerSet) {
      lower = Math.min(lower, low);
    }
    if (part.upperSet()) {
      upper(high);
    } else if (!upperSet) {
      upper = Math.max(upper, high);
    }
  }

  /**
   * Sets the lower bound.
   *
   * @param at element
   */
  public void lower(int at) {
    lower = lowerSet ? Math.min(lower, at) : at;
    lowerSet = true;
  }

  /**
   * Sets the upper bound.
   *
   * @param at element
   */
  public void upper(int at) {
    upper = upperSet ? Math.max(upper, at) : at;
    upperSet = true;
  }

  private void run(int start, int length) {
    if (length == 0) {
      return;
    }
    Math.addExact(start, length);
    if (count > 0 && starts[count - 1] + lengths[count - 1] == start) {
      lengths[count - 1] = Math.addExact(lengths[count - 1], length);
      return;
    }
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, count * 2);
      lengths = Arrays.copyOf(lengths, count * 2);
    }
    starts[count] = start;
    lengths[count++] = length;
  }

  /**
   * What was put together.
   *
   * @throws ArithmeticException as {@link #add}, if its size or extent is no int
   */
  public Layout build() {
    int low = lower == Integer.MAX_VALUE ? 0 : lower;
    int high = upper == Integer.MIN_VALUE ? low : upper;
    Math.subtractExact(high, low);
    return new Layout(
        base,
        Arrays.copyOf(starts, count),
        Arrays.copyOf(lengths, count),
        low,
        high,
        lowerSet,
        upperSet);
  }
}
