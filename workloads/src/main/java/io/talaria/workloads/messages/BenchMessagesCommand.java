// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.RepeatOptions;
import io.talaria.bench.compare.Rounds;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Words;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
      "  talaria bench messages ask --road shm --against aeron-ipc,bare --json ask.json",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage."
    })
public final class BenchMessagesCommand implements Subcommand {
  private static final double USUAL_WARM_UP = 5;
  private static final double P99 = 99;
  private static final String FORMAT = "talaria-bench-messages-1";

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
  @Mixin private OutputOptions output;

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

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    output.check();
    List<MessagesContender> contenders = contenders();
    Timing timing = repeat.timing(seconds, USUAL_WARM_UP);
    Pinning pinning = repeat.pinning();
    List<MessagesBout> bouts = bouts(timing, pinning);
    Machine machine = Machine.describe("none", pinning).beside(repeat.busy());
    Comparison found = new Comparison(contenders);
    PrintWriter progress = spec.commandLine().getErr();
    new Rounds(repeat.rounds(), repeat.busy(), progress).measure(List.copyOf(bouts), found);
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("rounds", repeat.rounds());
    options.put("busy", repeat.busy());
    options.put("timing", timing);
    return output.print(report(bouts, contenders, found, machine), found, machine, FORMAT, options);
  }

  private List<MessagesContender> contenders() {
    List<MessagesContender> all = new ArrayList<>();
    all.addAll(roads.isEmpty() ? MessagesContender.OWN : roads);
    all.addAll(against.isEmpty() ? MessagesContender.BASELINES : against);
    return all;
  }

  private List<MessagesBout> bouts(Timing timing, Pinning pinning) {
    List<Integer> wanted = sizes.isEmpty() ? Sizes.ALL : sizes;
    for (int size : wanted) {
      if (!Sizes.ALL.contains(size)) {
        throw new ParameterException(
            spec.commandLine(), "--sizes: there is no object of " + size + " bytes, but 16, 64");
      }
    }
    List<MessagesBout> bouts = new ArrayList<>();
    for (MessagesPattern pattern :
        patterns.isEmpty() ? List.of(MessagesPattern.values()) : patterns) {
      for (int size : wanted) {
        bouts.add(new MessagesBout(pattern, size, timing, pinning));
      }
    }
    return bouts;
  }

  private static String report(
      List<MessagesBout> bouts,
      List<MessagesContender> contenders,
      Comparison found,
      Machine machine) {
    StringBuilder out = new StringBuilder();
    for (MessagesBout bout : bouts) {
      out.append(table(bout, contenders, found).render()).append('\n');
    }
    for (MessagesContender contender : contenders) {
      out.append(contender).append(": ").append(contender.description()).append('\n');
    }
    out.append('\n');
    machine.lines().forEach(line -> out.append(line).append('\n'));
    return out.toString();
  }

  private static Table table(
      MessagesBout bout, List<MessagesContender> contenders, Comparison found) {
    boolean ask = bout.pattern() == MessagesPattern.ASK;
    String label = bout.label();
    Table table =
        ask
            ? new Table(label, ">p50", ">range", ">p99", ">shm =")
            : new Table(label, ">a second", ">range", ">shm =");
    String id = bout.id() + (ask ? "/p50" : "/rate");
    Quantity quantity = ask ? Quantity.TIME : Quantity.PER_SECOND;
    Spread own = found.spread(id, MessagesContender.SHM);
    for (MessagesContender contender : contenders) {
      Spread spread = found.spread(id, contender);
      List<String> cells = new ArrayList<>(List.of(contender.label()));
      cells.add(quantity.format(spread.median()));
      cells.add(quantity.format(spread.min()) + " – " + quantity.format(spread.max()));
      if (ask) {
        cells.add(
            Units.time((double) found.merged(bout.id(), contender).getValueAtPercentile(P99)));
      }
      cells.add(own == null ? "" : Units.times(own.median() / spread.median()));
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }
}
