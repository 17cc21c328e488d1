// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.compare.WarmUpLength;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.WarmUp;
import io.talaria.bench.netty.NettyClient;
import java.io.IOException;
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

  private final ParentLink link;
  private final DemoJob job;

  ClientPhases(ParentLink link, DemoJob job) {
    this.link = link;
    this.job = job;
  }

  void run() throws IOException, InterruptedException, ExecutionException {
    for (DemoPhase phase : DemoPhase.values()) {
      try (NettyClient client = new NettyClient(DemoPeer.loopback(job.port()), 1)) {
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
      throws IOException, InterruptedException, ExecutionException {
    client.connectForEcho(phase.sizeBytes(), phase.connections(), 1);
    Histogram histogram = Latencies.histogram();
    WarmUp warmUp = warmUp(phase);
    do {
      client.ping(histogram, scaled(phase.warmUpMs()) / 4);
    } while (!warmUp.done(histogram.getTotalCount()));
    histogram.reset();
    link.report(MEASURING, phase);
    long elapsed = client.ping(histogram, scaled(phase.measureMs()));
    return new PhaseResult(
        phase,
        histogram.getTotalCount(),
        elapsed,
        Latencies.encode(histogram),
        TransportProbe.look(),
        warmUp.rested());
  }

  private PhaseResult flood(NettyClient client, DemoPhase phase)
      throws IOException, InterruptedException, ExecutionException {
    int size = phase.sizeBytes();
    client.connectForFlood(size, 1, NettyClient.usualFlush(size));
    long batch = FIRST_BATCH;
    long batchNs = Math.min(BATCH_NS, scaled(phase.measureMs()));
    WarmUp warmUp = warmUp(phase);
    long done = 0;
    do {
      long took = client.flood(batch);
      done += batch;
      long next = batch * batchNs / Math.max(took, 1);
      batch = Math.max(FIRST_BATCH, Math.min(next, batch * 4));
    } while (!warmUp.done(done));
    link.report(MEASURING, phase);
    long elapsed = 0;
    long messages = 0;
    while (elapsed < scaled(phase.measureMs())) {
      elapsed += client.flood(batch);
      messages += batch;
    }
    return new PhaseResult(phase, messages, elapsed, "", TransportProbe.look(), warmUp.rested());
  }

  private WarmUp warmUp(DemoPhase phase) {
    return new WarmUpLength(scaled(phase.warmUpMs()) / 1e9).begin(phase.connections());
  }

  private long scaled(int ms) {
    return (long) (TimeUnit.MILLISECONDS.toNanos(ms) / job.speed());
  }
}
