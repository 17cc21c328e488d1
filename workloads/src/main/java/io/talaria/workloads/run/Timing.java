// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.WarmUp;
import java.time.Duration;

/**
 * How long a trial warms up and is measured.
 *
 * @param warmUpSeconds the shortest warm-up; three times as long until compilers rest
 * @param seconds how long to measure
 */
public record Timing(double warmUpSeconds, double seconds) {
  private static final double NS = 1e9;
  private static final int MORE_TIMES = 3;

  /** What compilers must have seen before they count as at rest. */
  private static final long WARM_OPERATIONS = 20_000;

  /**
   * What starting, connecting and settling may take on a busy machine; more than a client waits for
   * an answer, so that it can tell itself what is wrong.
   */
  private static final long SLACK_S = 90;

  /**
   * Begins a warm-up.
   *
   * @param connections how many connections there are
   */
  public WarmUp warmUp(int connections) {
    long least = (long) (warmUpSeconds * NS);
    return new WarmUp(least, MORE_TIMES * least, WARM_OPERATIONS, connections);
  }

  /** Returns how long to measure. */
  public long measureNs() {
    return (long) (seconds * NS);
  }

  /** Returns how long a client may take until it has measured. */
  Duration limit() {
    return Duration.ofSeconds(SLACK_S)
        .plusNanos((long) ((2 * MORE_TIMES * warmUpSeconds + 2 * seconds) * NS));
  }

  /** Returns how long a trial takes, about. */
  double expectedMs() {
    double startMs = 1_500;
    return startMs + 1.5e3 * warmUpSeconds + 1e3 * seconds;
  }
}
