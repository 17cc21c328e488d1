// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.engine.JvmStarter;
import io.talaria.bench.engine.LocalBenchmarkServer;
import io.talaria.bench.engine.WorkerPool;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.PlanException;
import io.talaria.bench.plan.PlanReader;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** A benchmark server in this process, and what became of the cases of plans. */
final class Hosts implements AutoCloseable, Outcome {
  private static final List<String> SMALL =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  final List<Row> rows = new ArrayList<>();
  final List<String> failures = new ArrayList<>();
  private final LocalBenchmarkServer benchmarkServer = new LocalBenchmarkServer(starter("server"));

  Hosts() throws IOException {}

  private static JvmStarter starter(String name) {
    return new JvmStarter(name, Pinning.NONE, null, SMALL, List.of());
  }

  /** Runs a plan; returns whether all could be measured. */
  boolean run(String json) throws PlanException, HarnessException, InterruptedException {
    RunPlan plan = PlanReader.parse("test.json", json);
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), benchmarkServer.port());
    int before = failures.size();
    try (WorkerPool workerPool =
        WorkerPool.with(
            plan.maxProcesses(), address, LocalBenchmarkServer.TOKEN, starter("client"))) {
      new Iterations(plan.repetitions(), 0, false, new PrintWriter(Writer.nullWriter()))
          .measure(HeatCase.of(plan, workerPool, this), new Comparison(plan.implementations()));
    }
    return failures.size() == before;
  }

  @Override
  public boolean stopped() {
    return false;
  }

  @Override
  public void begins(Iteration iteration) {}

  @Override
  public void measured(Row row, boolean rested) {
    rows.add(row);
  }

  @Override
  public void failed(Iteration iteration, String label, String message) {
    failures.add(iteration.implementation().label() + ", " + message);
  }

  @Override
  public void pauses() {}

  @Override
  public void close() {
    benchmarkServer.close();
  }
}
