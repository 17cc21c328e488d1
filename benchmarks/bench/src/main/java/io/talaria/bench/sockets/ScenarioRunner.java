// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.CpuReading;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.ProcessSize;
import io.talaria.bench.harness.SharedMemory;
import io.talaria.bench.harness.SharedMemory.Mappings;
import io.talaria.bench.harness.TransportProbe.Transports;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs one scenario in a fresh pair of JVMs. Used by one thread.
 *
 * @param launch how JVMs are started
 * @param timing how long
 */
record ScenarioRunner(Launch launch, Timing timing) {
  private static final Duration SLACK = Duration.ofSeconds(60);

  /** What a connection may take on a slow machine, set-up and tear-down together. */
  private static final Duration SLACK_A_CONNECTION = Duration.ofMillis(15);

  /** Compilers and collectors of the JVMs come to rest before the processor time is watched. */
  private static final long SETTLE_MS = 1_000;

  /** Idle connections are watched longer than busy ones are measured. */
  private static final double IDLE_TIMES = 2.5;

  /** A thread that waits sleeps at once. */
  private static final String NEVER_SPINS = "-Dtalaria.spin.ns=0";

  /**
   * Runs a scenario.
   *
   * @param scenario what
   * @param implementation the implementation whose sockets are used
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  ScenarioRun run(Scenario scenario, Implementation implementation)
      throws HarnessException, InterruptedException {
    try (Pair pair = launchOf(scenario).pair(BenchPeer.class, implementation)) {
      pair.server().send(new Job(true, scenario, timing, 0));
      int port = pair.server().await("listening", Listening.class, limit(scenario)).port();
      pair.client().send(new Job(false, scenario, timing, port));
      Map<String, Double> watched =
          switch (scenario.pattern()) {
            case IDLE -> watchIdle(pair, scenario);
            case MANY -> watchMany(pair, scenario);
            case SCALE -> watchScale(pair, scenario);
            default -> Map.of();
          };
      CpuReading before =
          scenario.pattern() == Pattern.WAKE ? readWhenMeasuring(pair, scenario) : null;
      Measured client = pair.client().await("result", Measured.class, limit(scenario));
      long cpuNs = before == null ? 0 : cpu(pair).sinceNs(before);
      Pair.requireAccelerated(
          implementation, "client", client.transports(), scenario.connections());
      Measured server = pair.server().await("result", Measured.class, limit(scenario));
      Map<String, Double> values = new HashMap<>(client.values());
      values.putAll(watched);
      Measured all =
          new Measured(values, client.histograms(), client.transports(), client.rested());
      ScenarioRun run = new ScenarioRun(scenario, all, server);
      if (before != null) {
        long trips = run.histogram(Measured.ROUND_TRIP).getTotalCount();
        values.put(Measured.CPU_PER_TRIP, (double) cpuNs / trips);
      }
      return run;
    }
  }

  private Launch launchOf(Scenario scenario) {
    Launch started =
        scenario.pattern() == Pattern.WAKE ? launch.with(List.of(NEVER_SPINS)) : launch;
    return scenario.oneCore() ? started.on(launch.pinning().together()) : started;
  }

  private CpuReading readWhenMeasuring(Pair pair, Scenario scenario)
      throws HarnessException, InterruptedException {
    pair.client().await("measuring", JsonNode.class, limit(scenario));
    return cpu(pair);
  }

  private static CpuReading cpu(Pair pair) {
    return CpuReading.of(pair.server().pid(), pair.client().pid());
  }

  private Duration limit(Scenario scenario) {
    return SLACK
        .plus(SLACK_A_CONNECTION.multipliedBy(scenario.connections()))
        .plus(timing.limit().multipliedBy(3))
        .plusNanos(25 * timing.measureNs());
  }

  private Map<String, Double> watchIdle(Pair pair, Scenario scenario)
      throws HarnessException, InterruptedException {
    pair.client().await("idle", Transports.class, limit(scenario));
    Thread.sleep(SETTLE_MS);
    CpuReading before = cpu(pair);
    long start = System.nanoTime();
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis((long) (IDLE_TIMES * timing.measureNs())));
    long elapsedNs = System.nanoTime() - start;
    long usedNs = cpu(pair).sinceNs(before);
    pair.client().send("stop");
    return Map.of(Measured.IDLE_CPU, 100.0 * usedNs / elapsedNs);
  }

  private Map<String, Double> watchMany(Pair pair, Scenario scenario)
      throws HarnessException, InterruptedException {
    pair.client().await("one", JsonNode.class, limit(scenario));
    Map<String, Double> values = watchMemory(pair, scenario);
    pair.client().send("go");
    return values;
  }

  private Map<String, Double> watchScale(Pair pair, Scenario scenario)
      throws HarnessException, InterruptedException {
    long serverPid = pair.server().pid();
    long clientPid = pair.client().pid();
    pair.client().await("one", JsonNode.class, limit(scenario));
    final ProcessSize server = ProcessSize.of(serverPid);
    final ProcessSize client = ProcessSize.of(clientPid);
    Map<String, Double> values = new HashMap<>(watchMemory(pair, scenario));
    int more = Math.max(1, scenario.connections() - 1);
    ProcessSize grownServer = ProcessSize.of(serverPid);
    ProcessSize grownClient = ProcessSize.of(clientPid);
    values.put(
        Measured.SERVER_MEMORY,
        (double) (grownServer.residentBytes() - server.residentBytes()) / more);
    values.put(
        Measured.CLIENT_MEMORY,
        (double) (grownClient.residentBytes() - client.residentBytes()) / more);
    values.put(
        Measured.DESCRIPTORS_PER_CONNECTION,
        (double)
                (grownServer.descriptors()
                    + grownClient.descriptors()
                    - server.descriptors()
                    - client.descriptors())
            / more);
    pair.client().send("go");
    return values;
  }

  /** Lets the client, which has one connection, open the others. */
  private Map<String, Double> watchMemory(Pair pair, Scenario scenario)
      throws HarnessException, InterruptedException {
    int more = Math.max(1, scenario.connections() - 1);
    final long bytes = SharedMemory.usedBytes();
    final Mappings before = SharedMemory.mappings(pair.client().pid());
    pair.client().send("go");
    pair.client().await("all", JsonNode.class, limit(scenario));
    Map<String, Double> values = new HashMap<>();
    values.put(Measured.SHM_PER_CONNECTION, (double) (SharedMemory.usedBytes() - bytes) / more);
    Mappings after = SharedMemory.mappings(pair.client().pid());
    values.put(
        Measured.MAPPED_PER_CONNECTION, (double) (after.shmBytes() - before.shmBytes()) / more);
    values.put(Measured.MAPPINGS_PER_CONNECTION, (double) (after.count() - before.count()) / more);
    return values;
  }
}
