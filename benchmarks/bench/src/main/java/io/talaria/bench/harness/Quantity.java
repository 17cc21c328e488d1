// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import io.talaria.cli.harness.Units;

/** What kind of figure a row shows: how it is written, and which direction is better. */
public enum Quantity {
  /** Nanoseconds. */
  TIME("ns", false),
  /** How many a second. */
  PER_SECOND("1/s", true),
  /** 10^9 bytes a second. */
  GIGABYTES_PER_SECOND("GB/s", true),
  /** Bytes. */
  BYTES("B", false),
  /** Hundredths. */
  PERCENT("%", false),
  /** A ratio. */
  TIMES("×", false),
  /** A number. */
  COUNT("", false);

  private final String unit;
  private final boolean moreIsBetter;

  Quantity(String unit, boolean moreIsBetter) {
    this.unit = unit;
    this.moreIsBetter = moreIsBetter;
  }

  /** Returns the unit of the plain number, for machines. */
  public String unit() {
    return unit;
  }

  /**
   * Returns a figure to be displayed.
   *
   * @param value the figure
   */
  public String format(double value) {
    return switch (this) {
      case TIME -> Units.time(value);
      case PER_SECOND -> Units.rate(value);
      case GIGABYTES_PER_SECOND -> Units.figure(value) + " GB/s";
      case BYTES -> value < 100 ? Units.figure(value) + " B" : Units.bytes(value);
      case PERCENT -> Units.figure(value) + " %";
      case TIMES -> Units.times(value);
      case COUNT -> Units.figure(value);
    };
  }

  /**
   * Returns the median of several iterations with their range.
   *
   * @param spread the iterations; null for none
   */
  public String format(Spread spread) {
    if (spread == null) {
      return "";
    }
    String median = format(spread.median());
    return spread.iterations() == 1
        ? median
        : median + " (" + format(spread.min()) + " – " + format(spread.max()) + ")";
  }

  /**
   * Returns how many times better a figure is than a baseline.
   *
   * @param baseline the baseline
   * @param figure the figure
   */
  public double ratio(double baseline, double figure) {
    return moreIsBetter ? figure / baseline : baseline / figure;
  }
}
