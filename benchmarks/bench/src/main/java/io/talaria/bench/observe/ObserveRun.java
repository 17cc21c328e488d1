// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.Iteration;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.engine.WorkerPool;
import io.talaria.bench.harness.JvmExit;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Progress;
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
  private volatile Progress progress;

  /** Written before an interrupt is watched for. */
  private Keeper keeper;

  ObserveRun(RunPlan plan, Path folder, Pinning pinning, CommandLine command) {
    this.plan = plan;
    this.folder = folder;
    this.command = command;
    machine = Machine.describe(BuildVersion.talaria(), pinning);
  }

  int run(WorkerPool jvms) throws HarnessException, InterruptedException {
    try (WorkerPool workerPool = jvms) {
      String server = workerPool.host() + ", " + workerPool.serverVersions();
      Keeper opened = new Keeper(folder, plan, machine, hostName(), server);
      keeper = opened;
      PrintWriter progressTo = command.getErr();
      if (Progress.Form.wanted() != Progress.Form.NONE) {
        progressTo.println(plan.name() + ": " + Schedule.describe(plan));
        progressTo.flush();
      }
      Thread atExit = new Thread(this::interrupted, "talaria-observe-keep");
      try (opened) {
        Runtime.getRuntime().addShutdownHook(atExit);
        new Iterations(plan.repetitions(), 0, false, progressTo)
            .measure(HeatCase.of(plan, workerPool, this), opened.found());
      }
      if (!JvmExit.withdraw(atExit)) {
        return CommandLine.ExitCode.SOFTWARE; // the interrupt tells the rest
      }
    }
    PrintWriter console = command.getOut();
    console.println(keeper.table());
    keeper.told().forEach(line -> console.println("failed      " + line));
    keeper.files().forEach(console::println);
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
    String how = keeper.closeInterrupted();
    Progress shown = progress;
    if (shown != null) {
      shown.close();
    }
    System.err.println();
    keeper.told().forEach(line -> System.err.println("failed      " + line));
    keeper.files().forEach(System.err::println);
    System.err.println("talaria: " + how);
  }

  @Override
  public boolean stopped() {
    return stopped;
  }

  @Override
  public void begins(Iteration iteration) {
    progress = iteration.progress();
  }

  @Override
  public void measured(Row row, boolean rested) {
    keeper.keep(row, rested);
  }

  @Override
  public void failed(Iteration iteration, String label, String message) {
    keeper.keepFailure(iteration.missing(label, message));
    keeper.save();
  }

  @Override
  public void pauses() {
    keeper.save();
  }
}
