// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.TransportProbe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Echoes at once, with nothing compiled and the connection still on TCP: what a program sees that
 * has just started.
 */
final class ColdClient {
  /** How many echoes the start is timed up to. */
  static final int ECHOES = 10_000;

  private static final long FIRST_NS = TimeUnit.SECONDS.toNanos(1);

  private ColdClient() {}

  /**
   * Makes round trips for a second and until there were {@link #ECHOES}.
   *
   * @param trips just connected
   */
  static Measured run(Trips trips) throws IOException {
    Histogram first = Latencies.histogram();
    Histogram later = new Histogram(first);
    long begin = System.nanoTime();
    long count = 0;
    long firstNs = 0;
    long echoedAtMs = 0;
    while (firstNs == 0 || echoedAtMs == 0) {
      count += trips.run(firstNs == 0 ? first : later, 0);
      if (count == ECHOES) {
        echoedAtMs = System.currentTimeMillis();
      }
      long elapsed = System.nanoTime() - begin;
      if (firstNs == 0 && elapsed >= FIRST_NS) {
        firstNs = elapsed;
      }
    }
    long startedAtMs = ManagementFactory.getRuntimeMXBean().getStartTime();
    Map<String, Double> values = new HashMap<>();
    values.put(Measured.TRIPS_PER_SECOND, first.getTotalCount() * 1e9 / firstNs);
    values.put(
        Measured.START_TO_ECHOES_NS,
        (double) TimeUnit.MILLISECONDS.toNanos(echoedAtMs - startedAtMs));
    return new Measured(
        values, Map.of(Measured.ROUND_TRIP, Latencies.encode(first)), TransportProbe.look(), true);
  }
}
