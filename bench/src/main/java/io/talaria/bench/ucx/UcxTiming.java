// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/**
 * How long JMH warms up and measures a case, in each of its forks.
 *
 * @param warmUpMs the length of a warm-up iteration
 * @param warmUps how many
 * @param measureMs the length of a measured iteration
 * @param measures how many; their median counts
 */
record UcxTiming(int warmUpMs, int warmUps, int measureMs, int measures) {
  /** Returns the timing that measures for so long. */
  static UcxTiming full(double seconds) {
    return new UcxTiming(400, 2, (int) Math.round(seconds * 1_000 / 5), 5);
  }

  /** Returns the timing of {@code --quick}. */
  static UcxTiming quick() {
    return new UcxTiming(200, 2, 100, 3);
  }

  /** Returns how long it measures. */
  double seconds() {
    return measures * measureMs / 1e3;
  }
}
