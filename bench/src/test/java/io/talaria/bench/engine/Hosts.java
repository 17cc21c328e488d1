// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.PlanException;
import io.talaria.bench.plan.PlanReader;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** A station in this process, and what a coordinator reported. */
final class Hosts implements AutoCloseable, Outcome {
  static final String TOKEN = LocalStation.TOKEN;

  final List<Row> rows = new ArrayList<>();
  final List<String> failures = new ArrayList<>();
  private final LocalStation station = new LocalStation(starter("server"));

  Hosts() throws IOException {}

  static JvmStarter starter(String name) {
    return new JvmStarter(
        name,
        Pinning.NONE,
        null,
        List.of(Jvms.option(name), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        List.of());
  }

  InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), station.port());
  }

  boolean run(String json) throws PlanException, HarnessException, InterruptedException {
    RunPlan plan = PlanReader.parse("test.json", json);
    try (Fleet fleet = Fleet.with(plan.mostProcesses(), address(), TOKEN, starter("client"))) {
      return new Coordinator(plan, fleet).run(this, () -> false);
    }
  }

  @Override
  public void begins(Contender contender, Case measured, int repetition) {}

  @Override
  public void measured(Row row) {
    rows.add(row);
  }

  @Override
  public void failed(Contender contender, String what, String message) {
    failures.add(contender.label() + ", " + what + ": " + message);
  }

  @Override
  public void close() {
    station.close();
  }
}
