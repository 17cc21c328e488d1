// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.WarmUp;
import java.time.Duration;

/**
 * The one rule of warming up, of all benchmarks: something is done without being measured until the
 * compilers of all JVMs rest, within limits. On one core they take the time of what is measured.
 *
 * @param seconds the shortest warm-up; the longest is {@value #MORE_TIMES} times as long
 */
public record WarmUpLength(double seconds) {
  /** What compilers need where each JVM has one core: 6 to 14 seconds, as tried. */
  static final double USUAL_SECONDS = 5;

  static final int MORE_TIMES = 4;

  private static final double NS = 1e9;

  /** What compilers must have seen before they count as at rest. */
  private static final long OPERATIONS = 20_000;

  /**
   * Begins a warm-up.
   *
   * @param connections how many connections there are
   */
  public WarmUp begin(int connections) {
    long least = (long) (seconds * NS);
    return new WarmUp(least, MORE_TIMES * least, OPERATIONS, connections);
  }

  /** Returns how long a JVM that warms up may say nothing. */
  public Duration silence() {
    return Orders.SILENCE.plusNanos((long) (MORE_TIMES * seconds * NS));
  }

  /** Returns how long it takes, about. */
  public double expectedMs() {
    return 2e3 * seconds;
  }
}
