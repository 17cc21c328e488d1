// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.util.Arrays;
import java.util.Collection;

/**
 * The middle of several iterations and how far they lie apart.
 *
 * @param median the middle value; the mean of the two middle ones if their number is even
 * @param min the smallest value
 * @param max the largest value
 * @param iterations how many values there were
 */
public record Spread(double median, double min, double max, int iterations) {

  /**
   * Returns the spread of some values.
   *
   * @param values at least one value
   * @throws IllegalArgumentException if there is none
   */
  public static Spread of(Collection<Double> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("no values to take the median of");
    }
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1], sorted.length);
  }

  /**
   * Returns the spread of some values.
   *
   * @param values at least one value
   */
  public static Spread of(double... values) {
    return of(Arrays.stream(values).boxed().toList());
  }
}
