// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;

/**
 * A logarithmic axis.
 *
 * @param title what it shows
 * @param base the base of the logarithm: ticks stand at its powers
 * @param low the exponent at the beginning
 * @param high the exponent at the end
 * @param label writes the value at a tick
 */
record Axis(String title, double base, double low, double high, DoubleFunction<String> label) {
  private static final int MAX_TICKS = 11;

  /** Returns an axis that has room for all values, which are positive. */
  static Axis around(String title, double base, double[] values, DoubleFunction<String> label) {
    double low = Double.MAX_VALUE;
    double high = -Double.MAX_VALUE;
    for (double value : values) {
      if (value > 0) {
        double exponent = Math.log(value) / Math.log(base);
        low = Math.min(low, exponent);
        high = Math.max(high, exponent);
      }
    }
    if (low > high) {
      return new Axis(title, base, 0, 1, label);
    }
    double floor = Math.floor(low + 1e-9);
    double ceiling = Math.ceil(high - 1e-9);
    return new Axis(title, base, floor, Math.max(ceiling, floor + 1), label);
  }

  /** Returns where a value stands, 0 to 1; what is not positive stands at the beginning. */
  double place(double value) {
    if (!(value > 0)) {
      return 0;
    }
    double place = (Math.log(value) / Math.log(base) - low) / (high - low);
    return Math.max(0, Math.min(place, 1));
  }

  /** Returns the values at which ticks stand. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    int step = (int) Math.max(1, Math.ceil((high - low + 1) / MAX_TICKS));
    for (double exponent = low; exponent <= high + 1e-9; exponent += step) {
      ticks.add(Math.pow(base, exponent));
    }
    return ticks;
  }
}
