// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.engine.JvmStarter;
import io.talaria.bench.engine.Station;
import io.talaria.bench.harness.PinOptions;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.PlanException;
import io.talaria.bench.plan.PlanReader;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Results;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Token;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
      "Measure libraries side by side between two JVMs, on one machine or on two, and write a"
          + " table (CSV), the raw histograms and a report (HTML) with pictures.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria observe                           the set quick, here, a minute",
      "  talaria observe paper --out results       as the papers ran; 50 minutes",
      "  talaria observe my-run.json               what a file describes",
      "  talaria observe --check my-run.json       say what it would measure",
      "  talaria observe --report observations     a report of all earlier runs, side by side",
      "  talaria observe --jucx jucx-1.12.1.jar with-jucx.json",
      "  talaria observe --listen                  be the passive one of two machines",
      "  talaria observe quick --remote 10.1.0.2 --token TOKEN",
      "",
      "docs/observatory.md tells all. Ctrl-C keeps what is done and writes the report.",
      "Exit status: 0 if all was measured, 1 if not, 2 for wrong usage."
    })
public final class ObserveCommand implements Subcommand {
  private static final int DEFAULT_PORT = 13_341;

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "SET|FILE",
      defaultValue = "quick",
      description =
          "quick, paper, scaling, neutrino-messages, neutrino-memory, or a file. Default:"
              + " ${DEFAULT-VALUE}.")
  private String plan;

  @Option(names = "--check", description = "Read the description, say what it holds, and end.")
  private boolean check;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      defaultValue = "observations",
      description = "Where to write; made if it does not exist. Default: ${DEFAULT-VALUE}.")
  private Path out;

  @Option(
      names = "--report",
      paramLabel = "FOLDER",
      description =
          "Measure nothing; write report.html of the runs in a folder, side by side; may be"
              + " repeated.")
  private List<Path> reportOf = List.of();

  @Option(
      names = "--run",
      paramLabel = "NAME",
      description = "Which runs --report shows, as results.csv names them; may be repeated.")
  private List<String> runs = List.of();

  @Option(
      names = "--pictures",
      description = "With --report: write each picture to a file of its own, too (SVG).")
  private boolean pictures;

  @Option(
      names = "--listen",
      arity = "0..1",
      fallbackValue = "",
      paramLabel = "HOST:PORT",
      converter = Place.class,
      description =
          "Serve another machine's runs until interrupted. Default: all addresses, port "
              + DEFAULT_PORT
              + ".")
  private HostPort listen;

  @Option(
      names = "--remote",
      paramLabel = "HOST[:PORT]",
      converter = Place.class,
      description = "Measure towards the machine where --listen runs. Default port: 13341.")
  private HostPort remote;

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description = "What --listen has printed; with --listen, what it shall want to hear.")
  private String token;

  @Option(
      names = {"--java-option", "--jvm"},
      paramLabel = "OPTION",
      description =
          "A further option for this side's measuring JVMs, such as"
              + " -Dtalaria.rules=/etc/talaria.rules; may be repeated.")
  private List<String> jvmOptions = List.of();

  @Mixin private PinOptions pin = new PinOptions();

  @Option(
      names = "--jucx",
      paramLabel = "JAR",
      description =
          "The jar of JUCX (org.openucx:jucx from Maven Central) for the binding jucx; with"
              + " --remote needed on both sides.")
  private Path jucx;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent's jar. Default: dist/talaria.jar.")
  private Path agent;

  /** Creates the command; picocli fills it. */
  public ObserveCommand() {}

  static final class Place extends HostPort.Converter {
    Place() {
      super(DEFAULT_PORT);
    }
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException, IOException {
    if (listen != null && remote != null) {
      throw new ParameterException(
          spec.commandLine(), "--listen and --remote cannot stand together");
    }
    if (remote != null && (token == null || remote.host().isEmpty())) {
      throw new ParameterException(
          spec.commandLine(), "--remote needs --token, which the server has printed, and a host");
    }
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
    if (listen != null) {
      serve(pinning);
      return CommandLine.ExitCode.OK;
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
    read.contenders()
        .forEach(
            contender ->
                console.println(
                    contender.label() + ": " + read.cases(contender).size() + " cases"));
    console.println(Schedule.describe(read));
    return CommandLine.ExitCode.OK;
  }

  private JvmStarter starter(String name, int core) {
    return new JvmStarter(name, core, agent, jvmOptions, jucx == null ? List.of() : List.of(jucx));
  }

  private void serve(Pinning pinning) throws HarnessException {
    PrintWriter console = spec.commandLine().getOut();
    String wanted = token == null ? Token.random() : token;
    String bind = listen.host().isEmpty() ? "0.0.0.0" : listen.host();
    try (Station station =
        new Station(
            new InetSocketAddress(bind, listen.port()),
            starter("server", pinning.serverCore()),
            wanted,
            BuildVersion.talaria(),
            line -> {
              console.println(line);
              console.flush();
            })) {
      console.println("listening on port " + station.port());
      console.println(
          "on the other machine: talaria observe --remote HOST:"
              + station.port()
              + " --token "
              + wanted);
      console.flush();
      station.serve();
    } catch (IOException e) {
      throw new HarnessException(
          "cannot listen on " + bind + ":" + listen.port() + ": " + e.getMessage(), e);
    }
  }

  private int run(RunPlan read, Pinning pinning)
      throws HarnessException, InterruptedException, IOException {
    ObserveRun run = new ObserveRun(read, out, pinning, spec.commandLine());
    if (remote != null) {
      return run.run(
          new InetSocketAddress(remote.host(), remote.port()),
          token,
          starter("client", pinning.clientCore()));
    }
    String secret = Token.random();
    InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Station station =
        new Station(
            here,
            starter("server", pinning.serverCore()),
            secret,
            BuildVersion.talaria(),
            line -> {})) {
      Thread.ofPlatform().daemon().name("talaria-station").start(station::serve);
      return run.run(
          new InetSocketAddress(here.getAddress(), station.port()),
          secret,
          starter("client", pinning.clientCore()));
    }
  }
}
