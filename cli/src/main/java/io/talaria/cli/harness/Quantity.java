// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench;

import io.talaria.cli.harness.Units;

/** What kind of figure a row shows: how it is written, and which direction is better. */
enum Quantity {
  TIME("ns", false),
  PER_SECOND("1/s", true),
  GIGABYTES_PER_SECOND("GB/s", true),
  BYTES("B", false),
  PERCENT("%", false),
  TIMES("×", false),
  COUNT("", false);

  private final String unit;
  private final boolean moreIsBetter;

  Quantity(String unit, boolean moreIsBetter) {
    this.unit = unit;
    this.moreIsBetter = moreIsBetter;
  }

  /** Returns the unit of the plain number, for machines. */
  String unit() {
    return unit;
  }

  /** Returns a figure for people. */
  String format(double value) {
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

  /** Returns how many times better a figure is than a baseline. */
  double ratio(double baseline, double figure) {
    return moreIsBetter ? figure / baseline : baseline / figure;
  }
}
