// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.WarmUp;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Warm-up and measurement of a client that makes round trips. */
final class Phases {
  private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How many times longer a measurement may get until there were operations enough. */
  private static final int MORE_TIMES = 20;

  private Phases() {}

  /** Returns whether compilers rest now. */
  static boolean warmUp(Trips trips, Timing timing, int connections) throws IOException {
    Histogram scratch = Latencies.histogram();
    WarmUp warmUp = timing.warmUp(connections);
    long count = 0;
    do {
      count += trips.run(scratch, Math.min(SLICE_NS, timing.measureNs()));
    } while (!warmUp.done(count));
    return warmUp.rested();
  }

  /** Measures for the time given; the connections stay open. */
  static Measured measure(Trips trips, Timing timing) throws IOException {
    return measure(trips, timing, null);
  }

  /**
   * Measures for the time given; the connections stay open.
   *
   * @param meter what counts allocations meanwhile, or null
   */
  static Measured measure(Trips trips, Timing timing, AllocMeter meter) throws IOException {
    Histogram histogram = Latencies.histogram();
    long tcpBytes = TransportProbe.look().tcpBytes();
    if (meter != null) {
      meter.restart();
    }
    long begin = System.nanoTime();
    long elapsed;
    do {
      trips.run(histogram, Math.min(SLICE_NS, timing.measureNs()));
      elapsed = System.nanoTime() - begin;
    } while (elapsed < timing.measureNs()
        || (meter != null && !meter.enough() && elapsed < MORE_TIMES * timing.measureNs()));
    TransportProbe.Transports transports = TransportProbe.look();
    Map<String, Double> values = new HashMap<>();
    values.put(Measured.TRIPS_PER_SECOND, histogram.getTotalCount() * 1e9 / elapsed);
    values.put(Measured.TCP_BYTES, (double) (transports.tcpBytes() - tcpBytes));
    return new Measured(
        values, Map.of(Measured.ROUND_TRIP, Latencies.encode(histogram)), transports, true);
  }
}
