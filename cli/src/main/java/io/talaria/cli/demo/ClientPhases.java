// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.demo;

import io.talaria.cli.harness.Latencies;
import io.talaria.cli.harness.ModeProbe;
import io.talaria.cli.harness.ParentLink;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The client's part of the demo: each phase on fresh connections, warmed up, then measured between
 * two events that tell the parent when to read the processor time.
 */
final class ClientPhases {
  static final String MEASURING = "measuring";
  static final String MEASURED = "measured";

  private static final long BATCH_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long FIRST_BATCH = 256;
  private static final long UPGRADE_LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  private final ParentLink link;
  private final DemoJob job;

  ClientPhases(ParentLink link, DemoJob job) {
    this.link = link;
    this.job = job;
  }

  void run() throws InterruptedException, ExecutionException {
    for (DemoPhase phase : DemoPhase.values()) {
      try (NettyClient client = new NettyClient()) {
        PhaseResult result =
            switch (phase) {
              case ROUND_TRIP, CONNECTIONS -> ping(client, phase);
              case SMALL, LARGE -> flood(client, phase);
            };
        link.report(MEASURED, result);
      }
    }
  }

  private PhaseResult ping(NettyClient client, DemoPhase phase)
      throws InterruptedException, ExecutionException {
    client.connectForEcho(job.ports().echo(), phase.sizeBytes(), phase.connections());
    Histogram histogram = Latencies.histogram();
    long start = System.nanoTime();
    do {
      client.ping(histogram, scaled(phase.warmUpMs()) / 4);
    } while (!warm(phase, start));
    histogram.reset();
    link.report(MEASURING, phase);
    long elapsed = client.ping(histogram, scaled(phase.measureMs()));
    return new PhaseResult(
        phase, histogram.getTotalCount(), elapsed, Latencies.encode(histogram), ModeProbe.look());
  }

  private PhaseResult flood(NettyClient client, DemoPhase phase)
      throws InterruptedException, ExecutionException {
    client.connectForFlood(job.ports().sink(), phase.sizeBytes());
    long batch = FIRST_BATCH;
    long batchNs = Math.min(BATCH_NS, scaled(phase.measureMs()));
    long start = System.nanoTime();
    do {
      long took = client.flood(batch);
      batch = Math.clamp(batch * batchNs / Math.max(took, 1), FIRST_BATCH, batch * 4);
    } while (!warm(phase, start));
    link.report(MEASURING, phase);
    long elapsed = 0;
    long messages = 0;
    while (elapsed < scaled(phase.measureMs())) {
      elapsed += client.flood(batch);
      messages += batch;
    }
    return new PhaseResult(phase, messages, elapsed, "", ModeProbe.look());
  }

  private boolean warm(DemoPhase phase, long start) {
    long elapsed = System.nanoTime() - start;
    long warmUpNs = scaled(phase.warmUpMs());
    return elapsed >= warmUpNs
        && (!ModeProbe.switchedOn()
            || ModeProbe.look().accelerated() >= phase.connections()
            || elapsed >= warmUpNs + UPGRADE_LIMIT_NS);
  }

  private long scaled(int ms) {
    return (long) (TimeUnit.MILLISECONDS.toNanos(ms) / job.speed());
  }
}
