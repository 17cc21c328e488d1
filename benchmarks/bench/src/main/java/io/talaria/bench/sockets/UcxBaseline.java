// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.harness.UcxPerftest.Figures;
import io.talaria.bench.harness.UcxPerftest.Test;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;

/** What UCX's stream API does in C over shared memory on this machine: the third column. */
final class UcxBaseline {
  private static final Duration LIMIT = Duration.ofSeconds(3);
  private static final int LARGE_BYTES = 4_096;

  private final UcxPerftest perftest;

  private final String transports;

  /**
   * Prepares the measurements.
   *
   * @param pinning which process sits on which core
   * @param transports the value of {@code UCX_TLS}
   */
  UcxBaseline(Pinning pinning, String transports) {
    perftest = new UcxPerftest(pinning);
    this.transports = transports;
  }

  /**
   * Measures the stream API once, for a second or less, in what a scenario can be compared with.
   *
   * @param scenario what Talaria is measured in
   * @return a figure of the kind that the scenario's row shows, or NaN if there is nothing like it
   * @throws HarnessException if it fails
   * @throws InterruptedException if interrupted
   */
  double measure(Scenario scenario) throws HarnessException, InterruptedException {
    if (scenario.connections() > 1) {
      return Double.NaN;
    }
    return switch (scenario.pattern()) {
      // It polls, as a blocking call that spins and a loop around selectNow do.
      case BLOCKING, SELECT_NOW -> run("stream_lat", scenario.sizeBytes()).roundTripNs();
      case ONEWAY -> oneway(run("stream_bw", scenario.sizeBytes()), scenario.sizeBytes());
      default -> Double.NaN;
    };
  }

  /** Gigabytes a second of large messages, or small messages a second. */
  private static double oneway(Figures figures, int sizeBytes) {
    return sizeBytes >= LARGE_BYTES ? figures.gigabytesPerSecond() : figures.perSecond();
  }

  private Figures run(String name, int sizeBytes) throws HarnessException, InterruptedException {
    long iterations = sizeBytes >= LARGE_BYTES ? 30_000 : 500_000;
    return perftest.run(new Test(name, sizeBytes, iterations, List.of(), transports), LIMIT);
  }
}
