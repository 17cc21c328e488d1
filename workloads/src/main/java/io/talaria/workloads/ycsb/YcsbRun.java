// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.cli.harness.ChildJvm;
import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Pair;
import io.talaria.cli.harness.Pinning;
import io.talaria.workloads.run.Launch;
import io.talaria.workloads.run.Orders;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs the phases on one road after the other, each in a client JVM of its own. Used by one thread.
 */
public final class YcsbRun {
  private final Launch launch;
  private final Class<?> main;
  private final YcsbOptions options;
  private final Map<String, String> workload;
  private final PrintWriter err;

  /**
   * Creates a run.
   *
   * @param launch how to start JVMs
   * @param main the class that clients run; it serves {@link YcsbClient#on}
   * @param options what the user wants
   * @param workload the workload's properties
   * @param err where to say how far it is
   */
  public YcsbRun(
      Launch launch,
      Class<?> main,
      YcsbOptions options,
      Map<String, String> workload,
      PrintWriter err) {
    this.launch = launch;
    this.main = main;
    this.options = options;
    this.workload = workload;
    this.err = err;
  }

  /**
   * Runs the phases wanted.
   *
   * @param contender on whose sockets
   * @param servers where the store is
   * @return what was found
   * @throws HarnessException if it failed, an operation failed, or a connection stayed plain
   * @throws InterruptedException if interrupted
   */
  public Map<Phase, PhaseResult> on(Contender contender, List<HostPort> servers)
      throws HarnessException, InterruptedException {
    Map<Phase, PhaseResult> results = new EnumMap<>(Phase.class);
    for (Phase phase : options.phases()) {
      String step = contender.label() + ": " + phase.label();
      say(step);
      PhaseResult result = run(contender, phase, servers, step);
      check(step, result);
      Pair.requireAccelerated(
          contender, "client (" + step + ")", result.roads(), result.connections());
      results.put(phase, result);
    }
    return results;
  }

  private PhaseResult run(Contender contender, Phase phase, List<HostPort> servers, String step)
      throws HarnessException, InterruptedException {
    Export export = Export.of(options, contender, phase);
    Map<String, String> properties = new TreeMap<>(workload);
    properties.putAll(export.properties());
    YcsbJob job =
        new YcsbJob(
            servers, phase, properties, options.threads(), options.warmUpMs(), export.file());
    Pinning pinning = launch.pinning();
    try (ChildJvm client =
        launch.start("client", main, contender, pinning.clientCore(), List.of())) {
      Orders.connect(client, servers.getFirst(), job);
      return Orders.result(
          client,
          PhaseResult.class,
          Orders.SILENCE,
          done -> {
            if (options.live()) {
              say(String.format("%s, %,d of %,d", step, done.asLong(), job.operations()));
            }
          });
    }
  }

  private void say(String line) {
    err.println(line);
    err.flush();
  }

  private static void check(String step, PhaseResult result) throws HarnessException {
    if (result.failed() > 0) {
      throw new HarnessException(
          String.format(
              "%s: %,d of %,d operations failed; the first one: %s",
              step, result.failed(), result.operations() + result.failed(), result.failure()));
    }
  }
}
