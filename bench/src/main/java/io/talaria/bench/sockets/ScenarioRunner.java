// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.CpuReading;
import io.talaria.bench.harness.ModeProbe.Roads;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.ProcessSize;
import io.talaria.bench.harness.SharedMemory;
import io.talaria.bench.harness.SharedMemory.Mappings;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs one scenario in a fresh pair of JVMs. Used by one thread.
 *
 * @param agent the agent's jar, or null if both contenders run plain
 * @param pinning which JVM sits on which core
 * @param jvmOptions further options for the JVMs
 * @param timing how long
 */
record ScenarioRunner(Path agent, Pinning pinning, List<String> jvmOptions, Timing timing) {
  private static final Duration SLACK = Duration.ofSeconds(60);

  /** What a connection may take on a slow machine, set-up and tear-down together. */
  private static final Duration SLACK_A_CONNECTION = Duration.ofMillis(15);

  /** Compilers and collectors of the JVMs come to rest before the processor time is watched. */
  private static final long SETTLE_MS = 1_000;

  /**
   * Runs a scenario.
   *
   * @param scenario what
   * @param contender on whose sockets
   * @param round the number of the round, for the result
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  Results.Run run(Scenario scenario, Contender contender, int round)
      throws HarnessException, InterruptedException {
    try (Pair pair = Pair.start(BenchPeer.class, contender, agent, pinning, jvmOptions)) {
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
      Measured client = pair.client().await("result", Measured.class, limit(scenario));
      Pair.requireAccelerated(contender, "client", client.roads(), scenario.connections());
      Measured server = pair.server().await("result", Measured.class, limit(scenario));
      Map<String, Double> values = new HashMap<>(client.values());
      values.putAll(watched);
      return new Results.Run(
          scenario,
          contender,
          round,
          new Measured(values, client.histograms(), client.roads()),
          server);
    }
  }

  private Duration limit(Scenario scenario) {
    return SLACK
        .plus(SLACK_A_CONNECTION.multipliedBy(scenario.connections()))
        .plusNanos(25 * (timing.warmUpNs() + timing.measureNs()));
  }

  private Map<String, Double> watchIdle(Pair pair, Scenario scenario)
      throws HarnessException, InterruptedException {
    pair.client().await("idle", Roads.class, limit(scenario));
    Thread.sleep(SETTLE_MS);
    CpuReading before = CpuReading.of(pair.server().pid(), pair.client().pid());
    long start = System.nanoTime();
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis(timing.idleNs()));
    long elapsedNs = System.nanoTime() - start;
    long usedNs = CpuReading.of(pair.server().pid(), pair.client().pid()).sinceNs(before);
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
