// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory;

import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Machine;
import io.talaria.cli.harness.Pinning;
import io.talaria.cli.harness.Progress;
import io.talaria.cli.harness.Terminal;
import io.talaria.observatory.engine.Coordinator;
import io.talaria.observatory.engine.JvmStarter;
import io.talaria.observatory.engine.Outcome;
import io.talaria.observatory.plan.Case;
import io.talaria.observatory.plan.Contender;
import io.talaria.observatory.plan.RunPlan;
import io.talaria.observatory.result.Row;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import picocli.CommandLine;

/** One run of {@code talaria observe} as the active side, by one thread. */
final class ObserveRun implements Outcome {
  private final RunPlan plan;
  private final Path folder;
  private final CommandLine command;
  private final Machine machine;
  private Progress progress;
  private Keeper keeper;
  private volatile boolean stopped;

  ObserveRun(RunPlan plan, Path folder, Pinning pinning, CommandLine command) {
    this.plan = plan;
    this.folder = folder;
    this.command = command;
    machine = Machine.describe(BuildVersion.talaria(), pinning);
  }

  int run(InetSocketAddress station, String token, JvmStarter starter)
      throws HarnessException, InterruptedException, IOException {
    try (Coordinator coordinator = new Coordinator(plan, station, token, starter)) {
      String server = station.getHostString() + ", " + coordinator.serverVersions();
      Keeper opened = new Keeper(folder, plan, machine, hostName(), server);
      keeper = opened;
      PrintWriter progressTo = command.getErr();
      progressTo.println(plan.name() + ": " + Schedule.describe(plan));
      progressTo.flush();
      Thread atExit = new Thread(this::interrupted, "talaria-observe-keep");
      Runtime.getRuntime().addShutdownHook(atExit);
      try (opened;
          Progress shown =
              new Progress(progressTo, Terminal.onStandardError(), Schedule.totalMs(plan))) {
        progress = shown;
        coordinator.run(this, () -> stopped);
      }
      if (!stopped) {
        Runtime.getRuntime().removeShutdownHook(atExit);
      }
    }
    PrintWriter console = command.getOut();
    keeper.told().forEach(line -> console.println("failed      " + line));
    console.println("report      " + keeper.report());
    console.println("results     " + keeper.table());
    console.println("histograms  " + keeper.histograms());
    return keeper.failures().isEmpty() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  /** Ctrl-C: rows are in their files already, what is missing is the report. */
  private void interrupted() {
    stopped = true;
    keeper.close();
    System.err.println();
    keeper.told().forEach(line -> System.err.println("failed      " + line));
    System.err.println("talaria: interrupted; what is done is in " + keeper.report());
  }

  @Override
  public void begins(Contender contender, Case measured, int repetition) {
    progress.step(
        contender.label()
            + ", "
            + measured.describe()
            + (plan.repetitions() == 1 ? "" : ", " + repetition + "/" + plan.repetitions()),
        Schedule.caseMs(plan));
  }

  @Override
  public void measured(Row row) {
    keeper.keep(row);
  }

  @Override
  public void failed(Contender contender, String what, String message) {
    keeper.keepFailure(contender.label() + ", " + what + ": " + message);
  }
}
