// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.harness.ChildJvm.Event;
import io.talaria.bench.harness.CpuReading;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * All phases of the demo, in one pair of JVMs. Used by one thread.
 *
 * @param launch how JVMs are started
 * @param speed the times of all phases are divided by this
 */
record DemoCase(Launch launch, double speed) implements BenchmarkCase {
  /** The name for machines of the round trips that are drawn. */
  static final String ROUND_TRIP = "roundTrip";

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final double GIGA = 1e9;

  @Override
  public String label() {
    return "the demo";
  }

  @Override
  public double expectedMs() {
    return START_MS + Stream.of(DemoPhase.values()).mapToDouble(this::expectedMs).sum();
  }

  private double expectedMs(DemoPhase phase) {
    return phase.totalMs() / speed;
  }

  /** It is short. */
  @Override
  public int iterations(int wanted) {
    return 1;
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    iteration.step("starting two JVMs", START_MS);
    try (Pair pair = launch.pair(DemoPeer.class, iteration.implementation())) {
      pair.server().send(new DemoJob(true, 0, speed));
      int port = pair.server().await("listening", Integer.class, LIMIT);
      pair.client().send(new DemoJob(false, port, speed));
      for (DemoPhase phase : DemoPhase.values()) {
        iteration.step(phase.label(), expectedMs(phase));
        pair.client().await(ClientPhases.MEASURING, DemoPhase.class, LIMIT);
        CpuReading before = cpu(pair);
        Event measured = pair.client().next(ClientPhases.MEASURED, LIMIT);
        long cpuNs = cpu(pair).sinceNs(before);
        PhaseResult result = measured.as(PhaseResult.class);
        Pair.requireAccelerated(
            iteration.implementation(),
            "client (" + phase.label() + ")",
            result.transports(),
            phase.connections());
        add(iteration.found(), iteration.implementation(), result, cpuNs);
      }
    }
  }

  private static CpuReading cpu(Pair pair) {
    return CpuReading.of(pair.server().pid(), pair.client().pid());
  }

  private static void add(
      Comparison found, Implementation implementation, PhaseResult result, long cpuNsOfBoth) {
    double perSecond = result.perSecond();
    double cpuNs = (double) cpuNsOfBoth / result.operations();
    switch (result.phase()) {
      case ROUND_TRIP -> {
        String label = "16 B round trip";
        Histogram times = Latencies.decode(result.histogram());
        found.addTimes(ROUND_TRIP, label, implementation, times);
        double p99 = times.getValueAtPercentile(99);
        found.add("roundTrip/p99", label + ", p99", Quantity.TIME, implementation, p99);
        double p999 = times.getValueAtPercentile(99.9);
        found.add("roundTrip/p999", label + ", p99.9", Quantity.TIME, implementation, p999);
      }
      case CONNECTIONS -> {
        String label = "Round trips, 64 connections";
        found.add("connections64", label, Quantity.PER_SECOND, implementation, perSecond);
        found.add("cpuRoundTrip", label + ", CPU each", Quantity.TIME, implementation, cpuNs);
      }
      case SMALL -> {
        String label = "Messages of 16 B one way";
        found.add("oneway16", label, Quantity.PER_SECOND, implementation, perSecond);
        found.add("cpuMessage", label + ", CPU each", Quantity.TIME, implementation, cpuNs);
      }
      case LARGE -> {
        double gigabytes = perSecond * result.phase().sizeBytes() / GIGA;
        Quantity quantity = Quantity.GIGABYTES_PER_SECOND;
        found.add("oneway64K", "64 KiB one way", quantity, implementation, gigabytes);
      }
    }
    found.addTransports(result.phase().label(), implementation, result.transports());
    found.addRun(
        result.phase().name(), result.phase().label(), implementation, result.rested(), result);
  }
}
