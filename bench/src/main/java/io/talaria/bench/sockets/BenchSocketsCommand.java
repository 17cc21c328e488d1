// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import io.talaria.cli.harness.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench sockets}. */
@Command(
    name = "sockets",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare plain NIO programs in two JVMs on the JDK's sockets and on Talaria.",
      "",
      "Every scenario runs in fresh JVMs, in rounds that alternate between the two. Both run the"
          + " same program with the same options; Talaria's have the agent, and the run fails if a"
          + " connection was not accelerated. Shown are medians over the rounds with their range.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench sockets --quick",
      "  talaria bench sockets --patterns blocking,selectNow,oneway --sizes 16,1K,64K",
      "  talaria bench sockets --rounds 5 --json result.json",
      "  talaria bench sockets --fabric ucx --patterns blocking,oneway",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage, 3 a target was missed (--strict)."
    })
public final class BenchSocketsCommand implements Callable<Integer> {
  private static final int MISSED = 3;
  private static final String SHM = "shm";
  private static final String UCX = "ucx";
  private static final String TRANSPORTS = "UCX_TLS";
  private static final int MOST_CONNECTIONS = 10_000;

  /** The ephemeral ports of a client address are fewer than 30,000. */
  private static final int MOST_SCALE_CONNECTIONS = 20_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--patterns",
      split = ",",
      paramLabel = "PATTERN",
      description =
          "What to measure: blocking, selectNow, select (round trips), oneway, idle (CPU time of"
              + " idle connections), many (1,000 connections in turn), alloc (bytes allocated a"
              + " round trip), scale (one busy connection among 10,000: times, memory). Default:"
              + " all but scale.")
  private List<String> patterns = new ArrayList<>();

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      converter = SizeConverter.class,
      description = "Sizes of messages. Default: 16 for round trips, 16 and 64K one way.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "64",
      description =
          "Also measure with N connections: each in turn, and an echo in flight on all; 1 for not."
              + " Default: ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--idle-connections",
      paramLabel = "N",
      defaultValue = "100",
      description = "Connections of the pattern idle. Default: ${DEFAULT-VALUE}.")
  private int idleConnections;

  @Option(
      names = "--many-connections",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Connections of the pattern many. Default: ${DEFAULT-VALUE}.")
  private int manyConnections;

  @Option(
      names = "--scale-connections",
      paramLabel = "N",
      defaultValue = "10000",
      description =
          "Connections of the pattern scale. On Talaria each takes 68 KiB of /dev/shm; both sides"
              + " need a descriptor each, and the client a port. Default: ${DEFAULT-VALUE}.")
  private int scaleConnections;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = SHM,
      description =
          "What Talaria runs on, as talaria.fabrics: shm, or ucx, which is held against"
              + " ucx_perftest over the same UCX_TLS. Default: ${DEFAULT-VALUE}.")
  private String fabric;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Rounds of each scenario. Default: 3, with --quick 1.")
  private Integer rounds;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long to measure a scenario, after its warm-up. Default: 2.")
  private Double seconds;

  @Option(
      names = "--quick",
      description = "One short round: to see that everything works, not to quote from.")
  private boolean quick;

  @Option(
      names = "--no-pin",
      description = "Do not pin the JVMs to a core each (server 0, client 1).")
  private boolean noPin;

  @Option(names = "--no-ucx", description = "Leave ucx_perftest out, even if it is installed.")
  private boolean noUcx;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent's jar. Default: dist/talaria.jar.")
  private Path agent;

  @Option(
      names = "--java-option",
      paramLabel = "OPTION",
      description = "A further option for all the JVMs, such as -Xmx1g; may be repeated.")
  private List<String> javaOptions = new ArrayList<>();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write everything measured to a file, for machines.")
  private Path json;

  @Option(names = "--strict", description = "Exit with status 3 if a target is missed.")
  private boolean strict;

  /** Creates the command; picocli fills it. */
  public BenchSocketsCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    Plan plan = plan();
    Timing timing = timing();
    int wantedRounds = wantedRounds();
    Report report = measure(plan, timing, wantedRounds, spec.commandLine().getErr());
    PrintWriter out = spec.commandLine().getOut();
    out.print(report.text());
    if (json != null) {
      try {
        Json.write(json, report.json());
      } catch (IOException e) {
        throw new HarnessException("cannot write " + json + ": " + e.getMessage(), e);
      }
      out.println("Written: " + json);
    }
    out.flush();
    return strict && report.missed() > 0 ? MISSED : CommandLine.ExitCode.OK;
  }

  private Report measure(Plan plan, Timing timing, int wantedRounds, PrintWriter progress)
      throws HarnessException, InterruptedException {
    List<Scenario> scenarios = plan.scenarios();
    AgentJar jar = Pair.bothPlain() ? null : AgentJar.locate(agent);
    Pinning pinning = Pinning.decide(!noPin);
    Machine machine = Machine.describe(jar == null ? "none" : jar.version(), pinning);
    ScenarioRunner runner =
        new ScenarioRunner(jar == null ? null : jar.file(), pinning, options(), timing);
    UcxBaseline ucx =
        noUcx || !UcxPerftest.installed() ? null : new UcxBaseline(pinning, transports());
    Results results = new Results();
    int total = 2 * scenarios.stream().mapToInt(s -> rounds(s, wantedRounds)).sum();
    int done = 0;
    for (Scenario scenario : scenarios) {
      int own = rounds(scenario, wantedRounds);
      for (int round = 1; round <= own; round++) {
        for (Contender contender : Contender.values()) {
          done++;
          progress.print(
              String.format(
                  "[%d/%d] %s, %s, round %d of %d: ",
                  done, total, scenario.label(), contender.label(), round, own));
          progress.flush();
          Results.Run run = run(runner, scenario, contender, round, progress);
          results.add(run);
          progress.println(headline(run));
        }
        if (ucx != null) {
          addUcx(ucx, results, scenario, progress);
        }
      }
    }
    return new Report(
        machine,
        options(plan, timing, wantedRounds),
        scenarios,
        results,
        fabric.equals(UCX)
            ? UcxTargets.of(Summary.of(scenarios, results))
            : Summary.of(scenarios, results));
  }

  /** Options of all JVMs; those without Talaria do not know its property. */
  private List<String> options() {
    List<String> options = new ArrayList<>(javaOptions);
    if (!fabric.equals(SHM)) {
      options.add("-Dtalaria.fabrics=" + fabric);
    }
    return options;
  }

  /** Those that the fabric takes. */
  private String transports() {
    String chosen = fabric.equals(UCX) ? System.getenv(TRANSPORTS) : null;
    return chosen == null ? UcxPerftest.SHARED_MEMORY : chosen;
  }

  private static Results.Run run(
      ScenarioRunner runner,
      Scenario scenario,
      Contender contender,
      int round,
      PrintWriter progress)
      throws HarnessException, InterruptedException {
    try {
      return runner.run(scenario, contender, round);
    } catch (HarnessException e) {
      progress.println("failed");
      throw new HarnessException(
          scenario.label() + " on " + contender.label() + ": " + e.getMessage(), e);
    }
  }

  /** The allocation is the same every time. */
  private static int rounds(Scenario scenario, int wanted) {
    return scenario.pattern() == Pattern.ALLOC ? 1 : wanted;
  }

  private static String headline(Results.Run run) {
    String figure =
        switch (run.scenario().pattern()) {
          case ONEWAY ->
              Units.rate(run.value(Measured.MESSAGES_PER_SECOND))
                  + ", "
                  + Units.figure(run.value(Measured.GIGABYTES_PER_SECOND))
                  + " GB/s";
          case SCALE ->
              "set up in "
                  + Units.time(run.value(Measured.SET_UP_NS))
                  + ", p50 "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP_ONE))
                  + " and "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP_ONE_AGAIN))
                  + " alone, "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP))
                  + " among idle ones";
          case IDLE -> Units.figure(run.value(Measured.IDLE_CPU)) + " % of a core";
          case ALLOC ->
              "client "
                  + bytes(run.value(Measured.CLIENT_ALLOCATED))
                  + ", server "
                  + bytes(run.value(Measured.SERVER_ALLOCATED));
          default ->
              "p50 "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP))
                  + ", "
                  + Units.rate(run.value(Measured.TRIPS_PER_SECOND));
        };
    double tcpBytes = run.value(Measured.TCP_BYTES);
    return tcpBytes > 0
        ? figure + " (WARNING: " + Units.bytes(tcpBytes) + " went over TCP while measured)"
        : figure;
  }

  private static String bytes(double value) {
    return Double.isNaN(value) ? "too few round trips" : Units.figure(value) + " B";
  }

  /** Measures UCX in each round too, as the machine may not be as fast in all. */
  private static void addUcx(
      UcxBaseline ucx, Results results, Scenario scenario, PrintWriter progress)
      throws InterruptedException {
    try {
      results.addUcx(scenario, ucx.measure(scenario));
    } catch (HarnessException e) {
      progress.println("no figure of UCX in this round: " + e.getMessage());
    }
  }

  private Map<String, Object> options(Plan plan, Timing timing, int wantedRounds) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("patterns", plan.patterns().stream().map(Pattern::word).toList());
    options.put("sizes", plan.sizes());
    options.put("connections", plan.connections());
    options.put("idleConnections", plan.idleConnections());
    options.put("manyConnections", plan.manyConnections());
    options.put("scaleConnections", plan.scaleConnections());
    options.put("fabric", fabric);
    options.put("rounds", wantedRounds);
    options.put("timing", timing);
    options.put("javaOptions", javaOptions);
    return options;
  }

  private Plan plan() {
    Set<Pattern> chosen = EnumSet.noneOf(Pattern.class);
    for (String word : patterns) {
      try {
        chosen.add(Pattern.of(word.strip()));
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), "--patterns: " + e.getMessage(), e);
      }
    }
    if (!fabric.equals(SHM) && !fabric.equals(UCX)) {
      throw new ParameterException(
          spec.commandLine(), "--fabric: '" + fabric + "' is no fabric; there are: shm, ucx");
    }
    check("--connections", connections, 1, MOST_CONNECTIONS);
    check("--idle-connections", idleConnections, 1, MOST_CONNECTIONS);
    check("--many-connections", manyConnections, 2, MOST_CONNECTIONS);
    check("--scale-connections", scaleConnections, 2, MOST_SCALE_CONNECTIONS);
    return new Plan(
        chosen.isEmpty() ? Pattern.usual() : chosen,
        List.copyOf(sizes),
        connections,
        idleConnections,
        manyConnections,
        scaleConnections);
  }

  private Timing timing() {
    if (quick) {
      if (seconds != null) {
        throw new ParameterException(spec.commandLine(), "--seconds does not go with --quick");
      }
      return Timing.quick();
    }
    double length = seconds == null ? 2 : seconds;
    check("--seconds", length, 0.1, 600);
    return Timing.full(length);
  }

  private int wantedRounds() {
    int wanted = rounds != null ? rounds : quick ? 1 : 3;
    check("--rounds", wanted, 1, 100);
    return wanted;
  }

  private void check(String option, Number value, double least, double most) {
    Limits.check(spec.commandLine(), option, value, least, most);
  }
}
