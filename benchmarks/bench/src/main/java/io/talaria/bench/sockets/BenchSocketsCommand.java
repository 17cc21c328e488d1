// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.RepeatOptions;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.TransportOptions;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      "Compare NIO programs in two JVMs on the JDK's sockets and on Talaria. Both run the same"
          + " programs; Talaria's JVMs have the agent. Fails if a connection was not accelerated.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench sockets --quick",
      "  talaria bench sockets --patterns blocking,selectNow,oneway --sizes 16,1K,64K",
      "  talaria bench sockets --iterations 5 --json result.json",
      "  talaria bench sockets --transport ucx --patterns blocking,oneway",
      "  talaria bench sockets --transport ucx --binding ffm,jucx --jucx jucx.jar",
      "  talaria bench sockets --java /opt/jdk-17 --quick",
      "  talaria bench sockets --patterns wake,blocking,select --busy 2",
      "",
      "Every case runs in new JVMs; iterations alternate between the two. Results are medians"
          + " over the iterations, with their range.",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage, 3 a target was missed (--strict)."
    })
public final class BenchSocketsCommand implements Callable<Integer> {
  /** Plain sockets are little code, soon compiled. */
  private static final double WARM_UP_SECONDS = 1;

  private static final String UCX = "ucx";
  private static final String FFM = "ffm";
  private static final String JUCX = "jucx";

  /** JUCX calls native code, and Java warns of it from 24 on. */
  private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

  private static final int WARNS_OF_NATIVE = 24;
  private static final int MIN_OF_FFM = 25;

  private static final String TRANSPORTS = "UCX_TLS";
  private static final int MAX_CONNECTIONS = 10_000;

  /** The ephemeral ports of a client address are fewer than 30,000. */
  private static final int MAX_SCALE_CONNECTIONS = 20_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--patterns",
      split = ",",
      paramLabel = "PATTERN",
      description =
          "What to measure. Round trips: blocking, selectNow, select. One way: oneway. idle: CPU"
              + " time of idle connections. many: 1,000 connections in turn. alloc: bytes"
              + " allocated per round trip. scale: time and memory of one busy connection among"
              + " 10,000. wake: round trips with both sides asleep (talaria.spin.ns=0), on two"
              + " cores and on one. cold: the first second of new JVMs, and the time from start to"
              + " 10,000 echoes, on two cores and on one. Default: all but scale, wake and cold.")
  private List<String> patterns = new ArrayList<>();

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      converter = SizeConverter.class,
      description = "Message sizes. Default: 16 for round trips, 16 and 64K one way.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "64",
      description =
          "Also measure round trips with N connections: each in turn, and one echo in flight on"
              + " each. 1 skips this. Default: ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--idle-connections",
      paramLabel = "N",
      defaultValue = "100",
      description = "Number of connections of the pattern idle. Default: ${DEFAULT-VALUE}.")
  private int idleConnections;

  @Option(
      names = "--many-connections",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Number of connections of the pattern many. Default: ${DEFAULT-VALUE}.")
  private int manyConnections;

  @Option(
      names = "--scale-connections",
      paramLabel = "N",
      defaultValue = "10000",
      description =
          "Number of connections of the pattern scale. Each needs a file descriptor on both sides"
              + " and a port of the client, and on Talaria 4 KiB of /dev/shm. Default:"
              + " ${DEFAULT-VALUE}.")
  private int scaleConnections;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds to measure each case after its warm-up. Default: 2, with --quick 0.7.")
  private Double seconds;

  @Option(
      names = "--binding",
      split = ",",
      paramLabel = "BINDING",
      description =
          "With --transport ucx: the binding to UCX, ffm or jucx; or both, to compare them."
              + " Default: ffm.")
  private List<String> bindings = new ArrayList<>();

  @Option(
      names = "--jucx",
      paramLabel = "FILE",
      description = "The jar of JUCX (org.openucx:jucx from Maven Central) for --binding jucx.")
  private Path jucx;

  @Option(
      names = "--java",
      paramLabel = "HOME",
      description =
          "Home of the Java that runs the whole benchmark, 17 or newer. Default: the Java of this"
              + " command.")
  private Path java;

  @Option(names = "--no-ucx", description = "Do not run ucx_perftest for comparison.")
  private boolean noUcx;

  @Mixin private TransportOptions transports;
  @Mixin private RepeatOptions repeat;
  @Mixin private OutputOptions output;

  /** Creates the command; picocli fills it. */
  public BenchSocketsCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    if (java != null) {
      return new OtherJava(spec.commandLine(), java).run();
    }
    Plan plan = plan();
    Timing timing = repeat.timing(seconds, WARM_UP_SECONDS);
    int iterations = repeat.iterations();
    output.check();
    checkBindings();
    Launch launch = withJucx(transports.launch(repeat.pinning()));
    List<Scenario> scenarios = plan.scenarios();
    if (!launch.pinning().active()) {
      scenarios = scenarios.stream().filter(scenario -> !scenario.oneCore()).toList();
    }
    Comparison found = new Comparison(implementations(launch));
    ScenarioRunner runner = new ScenarioRunner(launch, timing);
    UcxBaseline ucx = new UcxBaseline(launch.pinning(), transports(launch));
    new Iterations(iterations, repeat.busy(), repeat.sameDistance(), spec.commandLine().getErr())
        .measure(
            scenarios.stream()
                .<BenchmarkCase>map(one -> new ScenarioCase(one, runner, ucx))
                .toList(),
            found);
    SocketTargets targets = new SocketTargets(found);
    boolean quiet = repeat.busy() == 0;
    if (quiet) {
      targets.judgeByJucx();
    }
    if (!ffm()) {
      found.note("by JUCX alone, beside the JDK's sockets");
    } else if (quiet && prefersUcx(launch)) {
      targets.judgeOnUcx();
    } else if (quiet) {
      targets.judge(scenarios);
    }
    return output.print(
        found,
        launch.machine().beside(repeat.busy()),
        "talaria-bench-sockets-3",
        options(plan, timing, iterations, launch));
  }

  private List<Implementation> implementations(Launch launch) {
    List<Implementation> all = new ArrayList<>(launch.compared());
    if (bindings.contains(JUCX)) {
      all.add(Implementation.TALARIA_BY_JUCX);
    }
    if (!ffm()) {
      all.remove(Implementation.TALARIA);
    }
    if (!noUcx && UcxPerftest.installed()) {
      all.add(Implementation.UCX_IN_C);
    }
    return all;
  }

  /** Whether Talaria runs without JUCX. */
  private boolean ffm() {
    return bindings.isEmpty() || bindings.contains(FFM);
  }

  private void checkBindings() {
    for (String binding : bindings) {
      if (!binding.equals(FFM) && !binding.equals(JUCX)) {
        throw new ParameterException(
            spec.commandLine(), "--binding: '" + binding + "' is no binding; there are: ffm, jucx");
      }
    }
    if (bindings.contains(JUCX) != (jucx != null)) {
      throw new ParameterException(
          spec.commandLine(), "--binding jucx and --jucx FILE go together");
    }
    if (bindings.contains(FFM) && Runtime.version().feature() < MIN_OF_FFM) {
      throw new ParameterException(
          spec.commandLine(),
          "--binding ffm needs Java " + MIN_OF_FFM + ", this is " + Runtime.version());
    }
    if (jucx != null && !Files.isRegularFile(jucx)) {
      throw new ParameterException(spec.commandLine(), "--jucx: " + jucx + " is no file");
    }
  }

  private Launch withJucx(Launch launch) {
    if (!bindings.isEmpty() && (!launch.transport().equals(UCX) || launch.agent() == null)) {
      throw new ParameterException(spec.commandLine(), "--binding goes with --transport ucx");
    }
    if (jucx == null) {
      return launch;
    }
    String file = "-Dtalaria.jucx=" + jucx.toAbsolutePath();
    return launch.with(
        Runtime.version().feature() < WARNS_OF_NATIVE ? List.of(file) : List.of(file, NATIVE));
  }

  /** Whether connections are on UCX: transports stand in order of preference. */
  static boolean prefersUcx(Launch launch) {
    return launch.transport().split(",", -1)[0].equals(UCX);
  }

  /** Those that the transport takes. */
  private static String transports(Launch launch) {
    String chosen = prefersUcx(launch) ? System.getenv(TRANSPORTS) : null;
    return chosen == null ? UcxPerftest.SHARED_MEMORY : chosen;
  }

  private Map<String, Object> options(Plan plan, Timing timing, int iterations, Launch launch) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("plan", plan);
    options.put("transport", launch.transport());
    options.put("bindings", bindings);
    options.put("iterations", iterations);
    options.put("busy", repeat.busy());
    options.put("timing", timing);
    options.put("javaOptions", launch.options());
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
    check("--connections", connections, 1, MAX_CONNECTIONS);
    check("--idle-connections", idleConnections, 1, MAX_CONNECTIONS);
    check("--many-connections", manyConnections, 2, MAX_CONNECTIONS);
    check("--scale-connections", scaleConnections, 2, MAX_SCALE_CONNECTIONS);
    return new Plan(
        chosen.isEmpty() ? Pattern.usual() : chosen,
        List.copyOf(sizes),
        connections,
        idleConnections,
        manyConnections,
        scaleConnections);
  }

  private void check(String option, Number value, double least, double most) {
    Limits.check(spec.commandLine(), option, value, least, most);
  }
}
