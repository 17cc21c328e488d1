// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import java.util.Collection;

/**
 * Mean and standard deviation over repetitions.
 *
 * @param mean the mean
 * @param deviation the standard deviation of a sample (divided by one less than their number); 0 if
 *     there is one value
 * @param count how many values there were
 */
public record Statistics(double mean, double deviation, int count) {
  /**
   * Returns the statistics of some values.
   *
   * @param values at least one
   * @throws IllegalArgumentException if there is none
   */
  public static Statistics of(Collection<Double> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("no values to take the mean of");
    }
    double mean = values.stream().mapToDouble(Double::doubleValue).sum() / values.size();
    double squares = values.stream().mapToDouble(value -> (value - mean) * (value - mean)).sum();
    return new Statistics(
        mean, values.size() == 1 ? 0 : Math.sqrt(squares / (values.size() - 1)), values.size());
  }
}
