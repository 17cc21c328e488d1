// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.WarmUp;
import java.util.concurrent.TimeUnit;

/**
 * How long a scenario warms up and is measured.
 *
 * @param warmUpNs the longest warm-up
 * @param warmUpMinNs the shortest warm-up
 * @param warmUpTrips round trips after which compilers have seen what to compile
 * @param measureNs how long to measure
 * @param idleNs how long to watch idle connections
 */
record Timing(long warmUpNs, long warmUpMinNs, long warmUpTrips, long measureNs, long idleNs) {
  private static final long TRIPS = 200_000;

  /** Returns the timing of a full run. */
  static Timing full(double seconds) {
    return new Timing(ms(4_000), ms(1_000), TRIPS, ms(Math.round(seconds * 1_000)), ms(5_000));
  }

  /** Returns the timing of {@code --quick}. */
  static Timing quick() {
    return new Timing(ms(700), ms(700), TRIPS, ms(700), ms(2_000));
  }

  /** Begins a warm-up with so many connections. */
  WarmUp warmUp(int connections) {
    return new WarmUp(warmUpMinNs, warmUpNs, warmUpTrips, connections);
  }

  private static long ms(long ms) {
    return TimeUnit.MILLISECONDS.toNanos(ms);
  }
}
