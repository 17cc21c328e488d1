// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Spread;
import java.util.List;

/**
 * What one attempt has measured of a case, in nanoseconds or operations a second.
 *
 * @param talaria the median of the iterations
 * @param iterations each of them
 * @param before ucx_perftest just before; null if it was not run, or gave none
 * @param after ucx_perftest just after; null if it was not run, or gave none
 * @param missing why a run of ucx_perftest gave no figure; null if each did, or none was run
 * @param rested whether compilers rested when measuring began
 */
record UcxAttempt(
    double talaria,
    List<Double> iterations,
    Double before,
    Double after,
    String missing,
    boolean rested) {
  static UcxAttempt of(
      List<Double> iterations, Double before, Double after, String missing, boolean rested) {
    return new UcxAttempt(
        Spread.of(iterations).median(), iterations, before, after, missing, rested);
  }

  /** Returns what ucx_perftest measured, before and after together, or NaN. */
  double baseline() {
    return before == null || after == null ? Double.NaN : (before + after) / 2;
  }

  /** Returns how many times as long, or as many, Talaria's figure is, or NaN. */
  double ratio() {
    return talaria / baseline();
  }

  /**
   * Returns how far the two runs of ucx_perftest lie apart: 1 if not at all, or if not run;
   * infinitely if one gave no figure.
   */
  double unrest() {
    if (missing != null) {
      return Double.POSITIVE_INFINITY;
    }
    return before == null || after == null ? 1 : Math.max(before, after) / Math.min(before, after);
  }
}
