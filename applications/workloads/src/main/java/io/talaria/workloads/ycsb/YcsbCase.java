// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Blame;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.Servers;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The phases wanted, one after the other, each in a client JVM of its own. Used by one thread.
 *
 * @param launch how to start JVMs
 * @param store what is driven
 * @param options what the user wants
 * @param workload the workload's properties
 * @param remotes where the servers are; empty to start some here
 */
record YcsbCase(
    Launch launch,
    Store store,
    YcsbOptions options,
    Map<String, String> workload,
    List<HostPort> remotes)
    implements BenchmarkCase {
  private static final double EXPECTED_PER_MS = 2;

  @Override
  public String label() {
    return store.name();
  }

  @Override
  public double expectedMs() {
    return options.phases().stream().mapToDouble(this::expectedMs).sum();
  }

  private double expectedMs(Phase phase) {
    double warmUpMs = phase == Phase.RUN ? options.warmUp().expectedMs() : 0;
    return START_MS + warmUpMs + phase.operations(workload) / EXPECTED_PER_MS;
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    try (Servers servers =
        Servers.of(remotes, () -> store.start(launch, iteration.implementation()))) {
      for (Phase phase : options.phases()) {
        // Servers elsewhere keep their records from iteration to iteration.
        if (phase == Phase.RUN || remotes.isEmpty() || iteration.number() == 1) {
          measure(iteration, phase, servers);
        }
      }
    }
  }

  private void measure(Iteration iteration, Phase phase, Servers servers)
      throws HarnessException, InterruptedException {
    Implementation implementation = iteration.implementation();
    iteration.step(phase.label(), expectedMs(phase));
    PhaseResult result =
        Blame.servers(servers.jvms(), () -> run(iteration, phase, servers.addresses()));
    Pair.requireAccelerated(implementation, "client", result.transports(), result.connections());
    add(iteration.found(), implementation, phase.label(), result);
  }

  private PhaseResult run(Iteration iteration, Phase phase, List<HostPort> servers)
      throws HarnessException, InterruptedException {
    PhaseResult result = drive(iteration, phase, servers);
    if (result.failed() > 0) {
      throw new HarnessException(
          String.format(
              Locale.ROOT,
              "%s: %,d of %,d operations failed; the first one: %s",
              phase.label(),
              result.failed(),
              result.operations() + result.failed(),
              result.failure()));
    }
    return result;
  }

  private PhaseResult drive(Iteration iteration, Phase phase, List<HostPort> servers)
      throws HarnessException, InterruptedException {
    Export export = Export.of(options, iteration, phase);
    Map<String, String> properties = new TreeMap<>(workload);
    properties.putAll(export.properties());
    YcsbJob job =
        new YcsbJob(servers, phase, properties, options.threads(), options.warmUp(), export.file());
    int core = launch.pinning().clientCore();
    try (ChildJvm client =
        launch.start("client", store.main(), iteration.implementation(), core, List.of())) {
      Orders.connect(client, servers.getFirst(), job);
      return Orders.result(
          client,
          PhaseResult.class,
          job.warmUp().silence(),
          done -> {
            if (options.live()) {
              iteration.say(
                  String.format(Locale.ROOT, "%,d of %,d", done.asLong(), job.operations()));
            }
          });
    }
  }

  private static void add(
      Comparison comparison, Implementation implementation, String phase, PhaseResult result) {
    comparison.add(
        phase + "/rate",
        phase + ", operations",
        Quantity.PER_SECOND,
        implementation,
        result.operations() * 1e9 / result.elapsedNs());
    result
        .histograms()
        .forEach(
            (operation, histogram) ->
                comparison.addTimes(
                    phase + "/" + operation,
                    phase + ", " + operation,
                    implementation,
                    Latencies.decode(histogram)));
    comparison.addRun(phase, phase, implementation, result.rested(), result);
    comparison.addTransports(phase, implementation, result.transports());
  }
}
