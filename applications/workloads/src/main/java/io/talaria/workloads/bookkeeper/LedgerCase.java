// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

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
import io.talaria.cli.harness.Units;
import io.talaria.workloads.bookkeeper.LedgerResult.Measure;
import io.talaria.workloads.run.FolderServer;
import java.util.List;

/**
 * All sizes, written and read by one client JVM. Used by one thread.
 *
 * @param launch how to start JVMs
 * @param job what the client does
 * @param live whether to say every second how far it is
 * @param remotes where the server is; empty to start one here
 */
record LedgerCase(Launch launch, LedgerJob job, boolean live, List<HostPort> remotes)
    implements BenchmarkCase {
  private static final double EXPECTED_PER_MS = 2;

  @Override
  public String label() {
    return "bookkeeper";
  }

  @Override
  public double expectedMs() {
    return 2 * START_MS
        + job.warmUp().expectedMs()
        + 2.0 * job.entries() * job.sizes().size() / EXPECTED_PER_MS;
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    iteration.step("writing and reading", expectedMs());
    Implementation implementation = iteration.implementation();
    try (Servers servers =
        Servers.of(
            remotes, () -> FolderServer.start(launch, BookKeeperJvm.class, implementation))) {
      LedgerResult result =
          Blame.servers(servers.jvms(), () -> run(iteration, servers.addresses().getFirst()));
      Pair.requireAccelerated(implementation, "client", result.transports(), Ledgers.CONNECTIONS);
      result.measures().forEach(measure -> add(iteration.found(), implementation, measure));
      iteration.found().addRun("ledgers", "ledgers", implementation, result.rested(), result);
      iteration.found().addTransports("ledgers", implementation, result.transports());
    }
  }

  private LedgerResult run(Iteration iteration, HostPort where)
      throws HarnessException, InterruptedException {
    int core = launch.pinning().clientCore();
    try (ChildJvm client =
        launch.start("client", BookKeeperJvm.class, iteration.implementation(), core, List.of())) {
      Orders.connect(client, where, job);
      return Orders.result(
          client,
          LedgerResult.class,
          Orders.SILENCE,
          progress -> {
            if (live) {
              iteration.say(progress.asText());
            }
          });
    }
  }

  private static void add(Comparison comparison, Implementation implementation, Measure measure) {
    String id = measure.operation() + "/" + measure.sizeBytes();
    String label = measure.operation() + ", " + Units.bytes(measure.sizeBytes());
    comparison.add(
        id + "/rate",
        label + ", entries",
        Quantity.PER_SECOND,
        implementation,
        measure.entries() * 1e9 / measure.elapsedNs());
    comparison.addTimes(id, label, implementation, Latencies.decode(measure.histogram()));
  }
}
