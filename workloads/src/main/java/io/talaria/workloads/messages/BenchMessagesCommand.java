// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Blame;
import io.talaria.bench.compare.Found;
import io.talaria.bench.compare.Orders;
import io.talaria.bench.compare.RepeatOptions;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Words;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.ChildSpec;
import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Spread;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import io.talaria.nio.Reason;
import io.talaria.workloads.run.ScratchFolder;
import java.io.PrintWriter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench messages}. */
@Command(
    name = "messages",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Objects from one JVM to another: one way, and there and back, by messaging and by others.",
      "",
      "The same object goes in and comes out of each as an object; the receiver adds up every field"
          + " and checks the sequence, and what is counted is what it has received. Every case runs"
          + " in two new JVMs, in rounds in which the contenders take turns. Shown are medians over"
          + " the rounds with their range.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench messages --quick",
      "  talaria bench messages throughput --sizes 16 --rounds 5",
      "  talaria bench messages ask --road shm --against aeron-ipc,bare",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage."
    })
public final class BenchMessagesCommand implements Subcommand {
  private static final double USUAL_WARM_UP = 5;
  private static final double NS = 1e9;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "PATTERN",
      description = "What to measure: ${COMPLETION-CANDIDATES}. Default: both.")
  private List<MessagesPattern> patterns = new ArrayList<>();

  @Option(
      names = "--road",
      split = ",",
      paramLabel = "ROAD",
      converter = Own.class,
      description = "Which roads of messaging: shm, stream. Default: both.")
  private List<MessagesContender> roads = new ArrayList<>();

  @Option(
      names = "--against",
      split = ",",
      paramLabel = "NAME",
      converter = Baseline.class,
      description =
          "Beside whom: netty-kryo, grpc, aeron-ipc, aeron-exclusive, aeron-udp, jeromq, bare."
              + " Default: all.")
  private List<MessagesContender> against = new ArrayList<>();

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      description = "Which objects: 16 (two longs), 64 (eight). Default: both.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long each case is measured. Default: 2, with --quick 0.7.")
  private Double seconds;

  @Mixin private RepeatOptions repeat;

  /** Creates the command; picocli fills it. */
  public BenchMessagesCommand() {}

  static final class Own extends Words<MessagesContender> {
    Own() {
      super(MessagesContender.OWN);
    }
  }

  static final class Baseline extends Words<MessagesContender> {
    Baseline() {
      super(MessagesContender.BASELINES);
    }
  }

  @Override
  public String parent() {
    return "bench";
  }

  private record Case(MessagesPattern pattern, int sizeBytes) {
    @Override
    public String toString() {
      return pattern + " " + sizeBytes + " B";
    }
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    List<MessagesContender> contenders = contenders();
    List<Case> cases = cases();
    Timing timing = repeat.timing(seconds, USUAL_WARM_UP);
    int rounds = repeat.rounds();
    Pinning pinning = repeat.pinning();
    PrintWriter err = spec.commandLine().getErr();
    Map<String, List<Found>> found = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      for (Case each : cases) {
        for (MessagesContender contender : contenders) {
          err.println(
              "round "
                  + round
                  + " of "
                  + rounds
                  + ": "
                  + each.pattern()
                  + " of "
                  + each.sizeBytes()
                  + " B, "
                  + contender);
          err.flush();
          found
              .computeIfAbsent(key(each, contender), key -> new ArrayList<>())
              .add(measure(each, contender, timing, pinning));
        }
      }
    }
    print(cases, contenders, found, pinning);
    return CommandLine.ExitCode.OK;
  }

  private static String key(Case of, MessagesContender contender) {
    return of + " " + contender;
  }

  private List<MessagesContender> contenders() {
    List<MessagesContender> all = new ArrayList<>();
    all.addAll(roads.isEmpty() ? MessagesContender.OWN : roads);
    all.addAll(against.isEmpty() ? MessagesContender.BASELINES : against);
    return all;
  }

  private List<Case> cases() {
    List<Integer> wanted = sizes.isEmpty() ? Sizes.ALL : sizes;
    for (int size : wanted) {
      if (!Sizes.ALL.contains(size)) {
        throw new ParameterException(
            spec.commandLine(), "--sizes: there is no object of " + size + " bytes, but 16, 64");
      }
    }
    List<Case> cases = new ArrayList<>();
    for (MessagesPattern pattern :
        patterns.isEmpty() ? List.of(MessagesPattern.values()) : patterns) {
      for (int size : wanted) {
        cases.add(new Case(pattern, size));
      }
    }
    return cases;
  }

  private static Found measure(Case of, MessagesContender contender, Timing timing, Pinning pinning)
      throws HarnessException, InterruptedException {
    try (ScratchFolder folder = ScratchFolder.makeInMemory();
        ChildJvm server = start("server", pinning.serverCore());
        ChildJvm client = start("client", pinning.clientCore())) {
      MessagesJob job =
          new MessagesJob(
              contender, of.pattern(), of.sizeBytes(), folder.path().toString(), timing);
      HostPort where = Orders.listen(server, Orders.local(), job);
      return Blame.servers(
          List.of(server),
          () -> {
            Orders.connect(client, where, job);
            return Orders.result(client, Found.class, timing.limit(), progress -> {});
          });
    }
  }

  private static ChildJvm start(String name, int core)
      throws HarnessException, InterruptedException {
    List<String> options =
        List.of(
            "-Xms256m",
            "-Xmx1g",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-opens",
            "java.base/jdk.internal.misc=ALL-UNNAMED");
    return Pair.startOne(
        new ChildSpec(name, MessagesJvm.class, core, null, options, List.of(nio())), Contender.JDK);
  }

  /** The library that messaging stands on, which other benchmarks get from the agent alone. */
  private static Path nio() {
    try {
      return Path.of(Reason.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private void print(
      List<Case> cases,
      List<MessagesContender> contenders,
      Map<String, List<Found>> found,
      Pinning pinning) {
    PrintWriter out = spec.commandLine().getOut();
    for (Case each : cases) {
      boolean ask = each.pattern() == MessagesPattern.ASK;
      Table table =
          ask
              ? new Table(each.toString(), ">p50", ">range", ">p99", ">shm =")
              : new Table(each.toString(), ">a second", ">range", ">shm =");
      double own = Double.NaN;
      for (MessagesContender contender : contenders) {
        List<Found> results = found.get(key(each, contender));
        Spread spread = ask ? percentile(results, 50) : rate(results);
        if (contender == MessagesContender.SHM) {
          own = spread.median();
        }
        String times = Double.isNaN(own) ? "" : Units.times(own / spread.median());
        if (ask) {
          table.row(
              contender.toString(),
              Units.time(spread.median()),
              Units.time(spread.min()) + " – " + Units.time(spread.max()),
              Units.time(percentile(results, 99).median()),
              times);
        } else {
          table.row(
              contender.toString(),
              Units.rate(spread.median()),
              Units.rate(spread.min()) + " – " + Units.rate(spread.max()),
              times);
        }
      }
      out.println(table.render());
    }
    for (MessagesContender contender : contenders) {
      out.println(contender + ": " + contender.description());
    }
    out.println();
    for (String line : Machine.describe("none", pinning).lines()) {
      out.println(line);
    }
    out.flush();
  }

  private static Spread rate(List<Found> results) {
    return Spread.of(
        results.stream().map(each -> each.operations() * NS / each.elapsedNs()).toList());
  }

  private static Spread percentile(List<Found> results, double which) {
    List<Double> times = new ArrayList<>();
    for (Found each : results) {
      Histogram histogram = Latencies.decode(each.histogram());
      times.add((double) histogram.getValueAtPercentile(which));
    }
    return Spread.of(times);
  }
}
