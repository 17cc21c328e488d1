// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import io.talaria.cli.harness.Units;
import java.util.Locale;

/**
 * What Talaria must reach in a measure, and what it reached.
 *
 * @param wanted the target in words
 * @param reached the figure that is held against it
 * @param met whether it was reached
 */
public record Target(String wanted, double reached, boolean met) {

  /**
   * The ratio to a baseline must be at least so large.
   *
   * @param atLeast the limit
   * @param reached the ratio
   * @param baseline the baseline's name; may be empty
   */
  public static Target ratio(double atLeast, double reached, String baseline) {
    String wanted =
        String.format(Locale.ROOT, "≥ %.0f×", atLeast) + (baseline.isEmpty() ? "" : " " + baseline);
    return new Target(wanted, reached, reached >= atLeast);
  }

  /**
   * The figure itself must be at least so large.
   *
   * @param limit the limit
   * @param reached the figure
   * @param quantity what kind of figure it is
   */
  public static Target atLeast(double limit, double reached, Quantity quantity) {
    return new Target("≥ " + quantity.format(limit), reached, reached >= limit);
  }

  /**
   * The figure itself must be at most so large.
   *
   * @param limit the limit
   * @param reached the figure
   * @param quantity what kind of figure it is
   */
  public static Target atMost(double limit, double reached, Quantity quantity) {
    return new Target("≤ " + quantity.format(limit), reached, reached <= limit);
  }

  /**
   * The figure itself must be smaller.
   *
   * @param limit the limit
   * @param reached the figure
   * @param quantity what kind of figure it is
   */
  public static Target below(double limit, double reached, Quantity quantity) {
    return new Target("< " + quantity.format(limit), reached, reached < limit);
  }

  /**
   * The figure must be nothing, to the hundredth.
   *
   * @param reached the figure
   */
  public static Target nothing(double reached) {
    return new Target("0 B", reached, reached >= 0 && reached < 0.005);
  }

  /** Returns the mark for tables. */
  public String mark() {
    return met ? "met" : "MISSED";
  }

  /** Returns the reached ratio for tables. */
  public String reachedTimes() {
    return Units.times(reached);
  }
}
