// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.engine.BenchmarkServerOptions;
import io.talaria.bench.harness.PinOptions;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.PlanException;
import io.talaria.bench.plan.PlanReader;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Results;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code talaria observe}. */
@Command(
    name = "observe",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare libraries between two JVMs, on one machine or on two. Writes the results as a"
          + " table (CSV), histograms and an HTML report with pictures.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria observe                        the set quick, on this host, a minute",
      "  talaria observe paper --out results    experiments of the papers, 50 minutes",
      "  talaria observe my-run.json            measure what a file describes",
      "  talaria observe --check my-run.json    print what it would measure",
      "  talaria observe --report observations  one report of all earlier runs",
      "  talaria observe --jucx jucx-1.12.1.jar with-jucx.json",
      "  talaria observe --listen               run the benchmark server",
      "  talaria observe quick --remote 10.1.0.2 --token TOKEN",
      "",
      "Ctrl-C keeps the finished cases and writes the report. docs/observatory.md describes the"
          + " sets and the format of files.",
      "",
      "Exit status: 0 all cases measured, 1 not all, 2 wrong usage."
    })
public final class ObserveCommand implements Subcommand {
  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "SET|FILE",
      defaultValue = "quick",
      description =
          "File, or built-in set: quick, paper, scaling, neutrino-messages, neutrino-memory."
              + " Default: ${DEFAULT-VALUE}.")
  private String plan;

  @Option(
      names = "--check",
      description = "Print what the set or file contains, without measuring.")
  private boolean check;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = "observations",
      description = "Output directory, created if missing. Default: ${DEFAULT-VALUE}.")
  private Path out;

  @Option(
      names = "--report",
      paramLabel = "DIR",
      description =
          "Do not measure; write report.html for the runs in DIR. Repeat it to compare several"
              + " directories.")
  private List<Path> reportOf = List.of();

  @Option(
      names = "--run",
      paramLabel = "NAME",
      description =
          "With --report: a run to include, as the column run of results.csv names it."
              + " Repeatable. Default: all.")
  private List<String> runs = List.of();

  @Option(
      names = "--pictures",
      description = "With --report: also write each picture to a file of its own (SVG).")
  private boolean pictures;

  @Mixin private BenchmarkServerOptions benchmarkServer = new BenchmarkServerOptions();

  @Mixin private PinOptions pin = new PinOptions();

  @Option(
      names = "--jucx",
      paramLabel = "FILE",
      description =
          "The jar of JUCX (org.openucx:jucx from Maven Central) for the binding jucx; with"
              + " --remote, needed on both sides.")
  private Path jucx;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent jar. Default: dist/talaria.jar.")
  private Path agent;

  /** Creates the command; picocli fills it. */
  public ObserveCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    benchmarkServer.check();
    if (jucx != null && !JucxJar.isOne(jucx)) {
      throw new ParameterException(
          spec.commandLine(), "--jucx " + jucx + " is no jar of JUCX (org.openucx:jucx)");
    }
    if ((!runs.isEmpty() || pictures) && reportOf.isEmpty()) {
      String option = pictures ? "--pictures" : "--run";
      throw new ParameterException(spec.commandLine(), option + " needs --report");
    }
    if (!reportOf.isEmpty()) {
      return report();
    }
    Pinning pinning = pin.pinning(spec.commandLine());
    if (benchmarkServer.listens()) {
      return benchmarkServer.serve(pinning, agent, jars());
    }
    RunPlan read = plan();
    return check ? describe(read) : run(read, pinning);
  }

  private RunPlan plan() {
    try {
      return PlanReader.read(plan);
    } catch (PlanException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private int report() throws HarnessException {
    List<Results> found;
    try {
      found = ReportOfOld.find(reportOf, runs);
    } catch (HarnessException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    PrintWriter console = spec.commandLine().getOut();
    found.forEach(
        run -> console.println("run         " + run.name() + ", " + run.rows().size() + " rows"));
    console.println("report      " + ReportOfOld.write(found, out, pictures));
    return CommandLine.ExitCode.OK;
  }

  private int describe(RunPlan read) {
    PrintWriter console = spec.commandLine().getOut();
    read.implementations()
        .forEach(
            implementation ->
                console.println(
                    implementation.label() + ": " + read.cases(implementation).size() + " cases"));
    console.println(Schedule.describe(read));
    return CommandLine.ExitCode.OK;
  }

  private List<Path> jars() {
    return jucx == null ? List.of() : List.of(jucx);
  }

  private int run(RunPlan read, Pinning pinning) throws HarnessException, InterruptedException {
    return new ObserveRun(read, out, pinning, spec.commandLine())
        .run(benchmarkServer.workerPool(read.maxProcesses(), pinning, agent, jars()));
  }
}
