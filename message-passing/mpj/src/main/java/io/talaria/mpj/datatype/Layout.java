// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Where the elements of a datatype are: one base type, offsets in elements of it, and an extent,
 * which is how far apart two of them begin. Immutable.
 */
public final class Layout {
  private final BaseType base;

  /** Start and length of each run, in order of transfer; adjacent ones are joined. */
  private final int[] starts;

  private final int[] lengths;
  private final int[] before;
  private final int size;
  private final int lower;
  private final int upper;

  /** Whether the bounds were set, and do not follow from the elements. */
  private final boolean lowerSet;

  private final boolean upperSet;
  private final boolean dense;
  private final int first;
  private final int end;

  Layout(BaseType base, int[] starts, int[] lengths, int lower, int upper) {
    this(base, starts, lengths, lower, upper, false, false);
  }

  Layout(
      BaseType base,
      int[] starts,
      int[] lengths,
      int lower,
      int upper,
      boolean lowerSet,
      boolean upperSet) {
    this.base = base;
    this.starts = starts;
    this.lengths = lengths;
    this.lower = lower;
    this.upper = upper;
    this.lowerSet = lowerSet;
    this.upperSet = upperSet;
    before = new int[lengths.length];
    int sum = 0;
    for (int i = 0; i < lengths.length; i++) {
      before[i] = sum;
      sum = Math.addExact(sum, lengths[i]);
    }
    size = sum;
    int least = Integer.MAX_VALUE;
    int most = Integer.MIN_VALUE;
    for (int i = 0; i < starts.length; i++) {
      least = Math.min(least, starts[i]);
      most = Math.max(most, starts[i] + lengths[i]);
    }
    first = starts.length == 0 ? 0 : least;
    end = starts.length == 0 ? 0 : most;
    dense = starts.length == 1 && starts[0] == 0 && lower == 0 && upper == size;
  }

  /**
   * The layout of base elements themselves.
   *
   * @param base type
   * @param size how many stand together
   */
  public static Layout basic(BaseType base, int size) {
    return new Layout(base, new int[] {0}, new int[] {size}, 0, size);
  }

  /** Base type. */
  public BaseType base() {
    return base;
  }

  /** Base elements in one. */
  public int size() {
    return size;
  }

  /** Base elements from the start of one to that of the next. */
  public int extent() {
    return upper - lower;
  }

  /** Lower bound. */
  public int lower() {
    return lower;
  }

  /** Upper bound. */
  public int upper() {
    return upper;
  }

  boolean lowerSet() {
    return lowerSet;
  }

  boolean upperSet() {
    return upperSet;
  }

  /** Whether any number of them lie side by side without gaps. */
  public boolean dense() {
    return dense;
  }

  /** Whether elements lie on each other, within one or within its neighbours. */
  public boolean overlaps() {
    long[] runs = new long[starts.length * 2];
    for (int i = 0; i < starts.length; i++) {
      runs[i] = (long) starts[i] << 32 | lengths[i];
    }
    runs = Arrays.copyOf(runs, starts.length);
    Arrays.sort(runs);
    for (int i = 1; i < runs.length; i++) {
      if ((runs[i - 1] >> 32) + (int) runs[i - 1] > runs[i] >> 32) {
        return true;
      }
    }
    return false;
  }

  /** Smallest index that one of them at 0 touches. */
  public int first() {
    return first;
  }

  /** One more than the largest index that one of them at 0 touches. */
  public int end() {
    return end;
  }

  /**
   * Where an element is, relative to the start of the first layout.
   *
   * @param element its number, counted over any number of layouts
   * @return base elements
   */
  public long place(long element) {
    if (dense) {
      return element;
    }
    int within = (int) (element % size);
    int run = runOf(within);
    return element / size * extent() + starts[run] + (within - before[run]);
  }

  // For messages to ranks that have to know the layout: base, then the number of elements of a
  // dense one, or -1, bounds, and the runs. Whether bounds were set counts only in types of it.

  /** Bytes of {@link #encode}. */
  public int encodedBytes() {
    return dense ? 8 : 20 + 8 * starts.length;
  }

  /**
   * Writes it.
   *
   * @param to takes {@link #encodedBytes}
   */
  public void encode(ByteBuffer to) {
    to.putInt(base.code());
    if (dense) {
      to.putInt(size);
      return;
    }
    to.putInt(-1).putInt(lower).putInt(upper).putInt(starts.length);
    for (int i = 0; i < starts.length; i++) {
      to.putInt(starts[i]).putInt(lengths[i]);
    }
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @param from where
   */
  public static Layout decode(ByteBuffer from) {
    BaseType base = BaseType.of(from.getInt());
    int size = from.getInt();
    if (size >= 0) {
      return basic(base, size);
    }
    int lower = from.getInt();
    int upper = from.getInt();
    int[] starts = new int[from.getInt()];
    int[] lengths = new int[starts.length];
    for (int i = 0; i < starts.length; i++) {
      starts[i] = from.getInt();
      lengths[i] = from.getInt();
    }
    return new Layout(base, starts, lengths, lower, upper);
  }

  int runs() {
    return starts.length;
  }

  int start(int run) {
    return starts[run];
  }

  int length(int run) {
    return lengths[run];
  }

  /** The run that has the element with the number. */
  int runOf(int element) {
    int i = Arrays.binarySearch(before, element);
    if (i < 0) {
      return -i - 2;
    }
    // Empty runs are never made, so the number is a run's first.
    return i;
  }

  int before(int run) {
    return before[run];
  }
}
