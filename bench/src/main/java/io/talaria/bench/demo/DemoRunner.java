// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.ChildJvm.Event;
import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.CpuReading;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Progress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Runs all phases on one kind of sockets. Used by one thread.
 *
 * @param agent the agent's jar, or null if both contenders run plain
 * @param pinning which JVM sits on which core
 * @param speed the times of all phases are divided by this
 */
record DemoRunner(Path agent, Pinning pinning, double speed) {
  /** How long two JVMs take to start, about. */
  private static final int START_MS = 1_000;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Netty uses Unsafe, about which newer JDKs print a warning. */
  private static final List<String> JVM_OPTIONS =
      List.of("-Xms256m", "-Xmx512m", "--sun-misc-unsafe-memory-access=allow");

  /** Returns how long both contenders take together, about. */
  static double totalMs(double speed) {
    double sum = 0;
    for (DemoPhase phase : DemoPhase.values()) {
      sum += phase.totalMs() / speed;
    }
    return 2 * (START_MS + sum);
  }

  DemoRun run(Contender contender, Progress progress)
      throws HarnessException, InterruptedException {
    String prefix = contender.label() + ": ";
    progress.step(prefix + "starting two JVMs", START_MS);
    try (Pair pair = Pair.start(DemoPeer.class, contender, agent, pinning, JVM_OPTIONS)) {
      pair.server().send(new DemoJob(true, 0, speed));
      int port = pair.server().await("listening", Integer.class, LIMIT);
      pair.client().send(new DemoJob(false, port, speed));
      DemoRun run = new DemoRun();
      for (DemoPhase phase : DemoPhase.values()) {
        progress.step(prefix + phase.label(), phase.totalMs() / speed);
        pair.client().await(ClientPhases.MEASURING, DemoPhase.class, LIMIT);
        CpuReading before = cpu(pair);
        Event measured = pair.client().next(ClientPhases.MEASURED, LIMIT);
        long cpuNs = cpu(pair).sinceNs(before);
        PhaseResult result = measured.as(PhaseResult.class);
        Pair.requireAccelerated(
            contender, "client (" + phase.label() + ")", result.roads(), phase.connections());
        run.add(result, cpuNs);
      }
      return run;
    }
  }

  private static CpuReading cpu(Pair pair) {
    return CpuReading.of(pair.server().pid(), pair.client().pid());
  }
}
