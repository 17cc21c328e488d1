// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.WarmUp;
import java.time.Duration;

/**
 * How long a trial warms up and is measured.
 *
 * @param warmUpSeconds the shortest warm-up, as {@link WarmUpLength}
 * @param seconds how long to measure
 */
public record Timing(double warmUpSeconds, double seconds) {
  private static final double NS = 1e9;

  /**
   * What starting, connecting and settling may take on a busy machine; more than a client waits for
   * an answer, so that it can tell itself what is wrong.
   */
  private static final long SLACK_S = 30;

  private WarmUpLength length() {
    return new WarmUpLength(warmUpSeconds);
  }

  /**
   * Begins a warm-up.
   *
   * @param connections how many connections there are
   */
  public WarmUp warmUp(int connections) {
    return length().begin(connections);
  }

  /** Returns how long to measure. */
  public long measureNs() {
    return (long) (seconds * NS);
  }

  /** Returns how long a client may take until it has measured. */
  public Duration limit() {
    return length().silence().plusSeconds(SLACK_S).plusNanos((long) (2 * seconds * NS));
  }

  /** Returns how long a trial takes, about. */
  public double expectedMs() {
    return BenchmarkCase.START_MS + length().expectedMs() + 1e3 * seconds;
  }
}
