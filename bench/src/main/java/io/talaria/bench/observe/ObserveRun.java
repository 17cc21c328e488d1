// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.engine.Coordinator;
import io.talaria.bench.engine.Fleet;
import io.talaria.bench.engine.Outcome;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Progress;
import io.talaria.cli.harness.Terminal;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import picocli.CommandLine;

/** One run of {@code talaria observe} as the active side, by one thread. */
final class ObserveRun implements Outcome {
  private final RunPlan plan;
  private final Path folder;
  private final CommandLine command;
  private final Machine machine;
  private volatile boolean stopped;

  // Written before an interrupt is watched for.
  private Progress progress;
  private Keeper keeper;

  ObserveRun(RunPlan plan, Path folder, Pinning pinning, CommandLine command) {
    this.plan = plan;
    this.folder = folder;
    this.command = command;
    machine = Machine.describe(BuildVersion.talaria(), pinning);
  }

  int run(Fleet jvms) throws HarnessException, InterruptedException {
    try (Fleet fleet = jvms) {
      String server = fleet.host() + ", " + fleet.serverVersions();
      Keeper opened = new Keeper(folder, plan, machine, hostName(), server);
      keeper = opened;
      PrintWriter progressTo = command.getErr();
      progressTo.println(plan.name() + ": " + Schedule.describe(plan));
      progressTo.flush();
      Thread atExit = new Thread(this::interrupted, "talaria-observe-keep");
      try (opened;
          Progress shown =
              new Progress(progressTo, Terminal.onStandardError(), Schedule.totalMs(plan))) {
        progress = shown;
        Runtime.getRuntime().addShutdownHook(atExit);
        new Coordinator(plan, fleet).run(this, () -> stopped);
      }
      if (!removed(atExit)) {
        return CommandLine.ExitCode.SOFTWARE; // the interrupt tells the rest
      }
    }
    PrintWriter console = command.getOut();
    keeper.told().forEach(line -> console.println("failed      " + line));
    keeper.files().forEach(console::println);
    return keeper.failures().isEmpty() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  /** Removes a hook, if the JVM does not end already. */
  private static boolean removed(Thread hook) {
    try {
      return Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return false;
    }
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
    String how = keeper.closeInterrupted();
    progress.close();
    System.err.println();
    keeper.told().forEach(line -> System.err.println("failed      " + line));
    keeper.files().forEach(System.err::println);
    System.err.println("talaria: " + how);
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
