// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.RepeatOptions;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Words;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import io.talaria.messaging.Dispatch;
import io.talaria.messaging.IdleStrategy;
import io.talaria.workloads.messages.objects.Receipt;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.wire.MessagesImplementation;
import io.talaria.workloads.messages.wire.MessagesPattern;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The command {@code talaria bench messages}. */
@Command(
    name = "messages",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare sending objects between JVMs, one way and as requests with responses, by messaging"
          + " and by other libraries. Also measures patterns of several nodes.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench messages --quick",
      "  talaria bench messages throughput --sizes 16 --iterations 5",
      "  talaria bench messages throughput --sizes 65536,1048576 --transport shm",
      "  talaria bench messages request --transport shm --against aeron-ipc,bare",
      "  talaria bench messages asleep --transport shm --against netty-kryo,pipe",
      "  talaria bench messages all-to-all ring --nodes 8 --transport shm,tcp,ucx",
      "  talaria bench messages throughput --threads 4 --against aeron-ipc,bare",
      "  talaria bench messages throughput --threads 16 --dispatch ordered --handlers 2",
      "  talaria bench messages request --transport shm --idle adaptive,busy-spin",
      "  talaria bench messages --paper --quick --csv paper.csv --pictures .",
      "",
      "Each implementation encodes and decodes the same object. The receiver adds up every field"
          + " and checks the sequence; only received objects count. Every case runs in new JVMs;"
          + " the implementations take turns in each iteration. Results are medians over the"
          + " iterations, with their range. docs/messaging.md describes the patterns.",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage."
    })
public final class BenchMessagesCommand implements Subcommand {
  private static final double USUAL_WARM_UP = 5;
  private static final double P99 = 99;
  private static final int MAX_NODES = 16;
  private static final int MAX_HANDLERS = 64;
  private static final String FORMAT = "talaria-bench-messages-2";

  /** Options of what {@code --paper} goes through by itself, or has not. */
  private static final List<String> OF_THE_PAPER =
      List.of(
          "--against",
          "--encrypted",
          "--agent",
          "--idle",
          "--nodes",
          "--threads",
          "--dispatch",
          "--handlers",
          "--reuse");

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "PATTERN",
      description =
          "What to measure: ${COMPLETION-CANDIDATES}. Default: throughput and request. All but these"
              + " and asleep (a request after a pause) exist only for messaging.")
  private List<MessagesPattern> patterns = new ArrayList<>();

  @Option(
      names = "--transport",
      split = ",",
      paramLabel = "TRANSPORT",
      converter = Own.class,
      description = "Transports of messaging: shm, tcp, verbs, ucx. Default: shm and tcp.")
  private List<MessagesImplementation> transports = new ArrayList<>();

  @Option(
      names = "--against",
      split = ",",
      paramLabel = "NAME",
      converter = Baseline.class,
      description =
          "Baselines: netty-kryo, netty-kryo-agent, grpc, aeron-ipc, aeron-exclusive, aeron-udp,"
              + " jeromq, bare (the ring alone), pipe (a pipe each way; not for throughput). Default:"
              + " all.")
  private List<MessagesImplementation> against = new ArrayList<>();

  @Option(
      names = "--encrypted",
      description = "Also measure transport tcp encrypted and authenticated.")
  private boolean encrypted;

  @Option(
      names = "--idle",
      split = ",",
      paramLabel = "STRATEGY",
      converter = Idle.class,
      description =
          "Idle strategies of the pollers, each measured as its own case: adaptive (spin, then"
              + " sleep), busy-spin (never sleep), backoff (spin for 100 ms, yield for a second,"
              + " then park, as DXNet does). Default: adaptive.")
  private List<IdleStrategy> idle = new ArrayList<>();

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent jar, for netty-kryo-agent. Default: dist/talaria.jar.")
  private Path agent;

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      description =
          "Objects: 16 (two longs), 64 (eight longs), or an array of another power of two up to"
              + " 1048576, only by messaging, netty-kryo and bare. Default: 16 and 64.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds to measure each case. Default: 2, with --quick 0.7.")
  private Double seconds;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "Number of nodes, each in its own JVM, for all-to-all, turning, ring and connect: 2 to"
              + " 16. Default: ${DEFAULT-VALUE}.")
  private int nodes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Threads of each node that send: 1 to 16. Default: ${DEFAULT-VALUE}. grpc, jeromq and"
              + " aeron-exclusive have one thread only; with request, all but Talaria's transports.")
  private int threads;

  @Option(
      names = "--dispatch",
      paramLabel = "DISPATCH",
      converter = How.class,
      defaultValue = "inline",
      description =
          "How nodes dispatch received messages: inline, ordered, serial, concurrent, virtual."
              + " Default: ${DEFAULT-VALUE}.")
  private Dispatch dispatch;

  @Option(
      names = "--handlers",
      paramLabel = "N",
      description = "Number of handler threads of each node: 1 to 64. Default: half the cores.")
  private Integer handlers;

  @Option(
      names = "--reuse",
      description =
          "Reuse the same objects for sending and receiving; only with --dispatch inline.")
  private boolean reuse;

  @Option(
      names = "--paper",
      description =
          "Run the experiments of the DXNet paper instead: objects from 1 B to 1 MiB, 1 to 16"
              + " sending and 1 to 4 handler threads, 2 to 8 nodes, new and reused objects, the"
              + " ring alone, and all-to-all that turns into a ring. Takes many hours; --quick,"
              + " --sizes, --transport, --iterations, --seconds and PATTERN (throughput,"
              + " both-ways, request, all-to-all, turning) shorten it.")
  private boolean paper;

  @Option(
      names = "--pictures",
      paramLabel = "DIR",
      description = "With --paper: draw each experiment to a file in DIR.")
  private Path pictures;

  @Mixin private RepeatOptions repeat;
  @Mixin private OutputOptions output;

  /** Creates the command; picocli fills it. */
  public BenchMessagesCommand() {}

  static final class Own extends Words<MessagesImplementation> {
    Own() {
      super(MessagesImplementation.OWN);
    }
  }

  static final class How implements ITypeConverter<Dispatch> {
    @Override
    public Dispatch convert(String word) {
      for (Dispatch each : Dispatch.values()) {
        if (word.equals(each.name().toLowerCase(Locale.ROOT).replace('_', '-'))) {
          return each;
        }
      }
      throw new TypeConversionException(
          "there is no '" + word + "', but inline, ordered, serial, concurrent, virtual");
    }
  }

  static final class Idle implements ITypeConverter<IdleStrategy> {
    @Override
    public IdleStrategy convert(String word) {
      for (IdleStrategy each : IdleStrategy.values()) {
        if (word.equals(each.name().toLowerCase(Locale.ROOT).replace('_', '-'))) {
          return each;
        }
      }
      throw new TypeConversionException(
          "there is no '" + word + "', but adaptive, busy-spin, backoff");
    }
  }

  static final class Baseline extends Words<MessagesImplementation> {
    Baseline() {
      super(MessagesImplementation.BASELINES);
    }
  }

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    output.check();
    if (paper) {
      return paper();
    }
    if (pictures != null) {
      throw new ParameterException(spec.commandLine(), "--pictures is for --paper");
    }
    if (patterns.contains(MessagesPattern.TURNING) && nodes == 2) {
      throw new ParameterException(spec.commandLine(), "turning needs --nodes 3 or more");
    }
    NodesHow how = how();
    List<MessagesImplementation> implementations = implementations(how);
    Timing timing = repeat.timing(seconds, USUAL_WARM_UP);
    Pinning pinning = repeat.pinning();
    AgentJar jar = agent(implementations);
    List<MessagesShown> cases = cases(how, jar == null ? null : jar.file(), timing, pinning);
    Machine machine =
        Machine.describe(jar == null ? "none" : jar.version(), pinning).beside(repeat.busy());
    Comparison found = measure(cases, implementations);
    String text = report(cases, implementations, found, machine);
    return output.print(text, found, machine, FORMAT, options(timing));
  }

  private Comparison measure(
      List<MessagesShown> cases, List<MessagesImplementation> implementations)
      throws HarnessException, InterruptedException {
    Comparison found = new Comparison(implementations);
    PrintWriter progress = spec.commandLine().getErr();
    new Iterations(repeat.iterations(), repeat.busy(), repeat.sameDistance(), progress)
        .measure(List.copyOf(cases), found);
    return found;
  }

  private Map<String, Object> options(Timing timing) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("iterations", repeat.iterations());
    options.put("busy", repeat.busy());
    options.put("timing", timing);
    return options;
  }

  private int paper() throws HarnessException, InterruptedException {
    CommandLine command = spec.commandLine();
    for (String each : OF_THE_PAPER) {
      if (command.getParseResult().hasMatchedOption(each)) {
        throw new ParameterException(
            command, each + " does not go with --paper, which has its own");
      }
    }
    if (!PaperGrid.PATTERNS.containsAll(patterns)) {
      throw new ParameterException(command, "--paper has of patterns " + PaperGrid.PATTERNS);
    }
    if (pictures != null && !Files.isDirectory(pictures)) {
      throw new ParameterException(command, "--pictures: there is no folder " + pictures);
    }
    if (pictures != null && !Files.isWritable(pictures)) {
      throw new ParameterException(command, "--pictures: no permission to write in " + pictures);
    }
    checkSizes();
    Timing timing = repeat.timing(seconds, USUAL_WARM_UP);
    Pinning pinning = repeat.pinning();
    List<MessagesPattern> wanted = patterns.isEmpty() ? PaperGrid.PATTERNS : patterns;
    List<Integer> objects = sizes.stream().distinct().toList();
    PaperGrid grid = PaperGrid.of(wanted, objects, repeat.quick(), timing, pinning);
    List<MessagesImplementation> implementations =
        new ArrayList<>(
            transports.isEmpty()
                ? MessagesImplementation.USUAL
                : transports.stream().distinct().toList());
    implementations.add(MessagesImplementation.BARE);
    Machine machine = Machine.describe("none", pinning).beside(repeat.busy());
    Comparison found = measure(grid.cases(), implementations);
    PaperReport report = new PaperReport(grid, implementations, found);
    Map<String, Object> options = options(timing);
    options.put("paper", true);
    try {
      return output.print(report.text(machine), found, machine, FORMAT, options);
    } finally {
      if (pictures != null) {
        draw(report);
      }
    }
  }

  private void draw(PaperReport report) throws HarnessException {
    for (Path file : report.draw(pictures)) {
      output.people().println("Written: " + file);
    }
    output.people().flush();
  }

  private void checkSizes() {
    for (int size : sizes) {
      if (!Sizes.exists(size)) {
        throw new ParameterException(
            spec.commandLine(),
            "--sizes: there is no object of "
                + size
                + " bytes, but of powers of two from 1 to "
                + Sizes.MAX_BYTES);
      }
    }
  }

  private NodesHow how() {
    CommandLine command = spec.commandLine();
    Limits.check(command, "--nodes", nodes, 2, MAX_NODES);
    Limits.check(command, "--threads", threads, 1, Receipt.MAX_WORKERS);
    if (handlers != null) {
      Limits.check(command, "--handlers", handlers, 1, MAX_HANDLERS);
      if (dispatch == Dispatch.INLINE || dispatch == Dispatch.VIRTUAL) {
        throw new ParameterException(
            command, "--handlers is for --dispatch ordered, serial and concurrent");
      }
    }
    if (reuse && dispatch != Dispatch.INLINE) {
      throw new ParameterException(command, "--reuse is for --dispatch inline");
    }
    int receivers = handlers == null ? 0 : handlers;
    NodesHow how = new NodesHow(threads, receivers, dispatch, reuse, IdleStrategy.ADAPTIVE);
    if (!how.equals(NodesHow.USUAL)
        && (patterns.contains(MessagesPattern.CONNECT)
            || patterns.contains(MessagesPattern.ASLEEP)
            || (patterns.contains(MessagesPattern.REQUEST) && !how.onlyThreads()))) {
      throw new ParameterException(
          command,
          "--threads, --dispatch, --handlers and --reuse are for patterns in which nodes send: "
              + "throughput, both-ways, all-to-all, turning, ring; --threads also for request");
    }
    return how;
  }

  /** Others are beside it where they can do the same. */
  private List<MessagesImplementation> implementations(NodesHow how) {
    List<MessagesImplementation> all =
        new ArrayList<>(transports.isEmpty() ? MessagesImplementation.USUAL : transports);
    if (encrypted) {
      int tcp = all.indexOf(MessagesImplementation.TCP);
      if (tcp < 0) {
        throw new ParameterException(
            spec.commandLine(), "--encrypted is for transport tcp, which --transport leaves out");
      }
      all.add(tcp + 1, MessagesImplementation.TCP_ENCRYPTED);
    }
    boolean alone =
        !how.onlyThreads()
            || (!patterns.isEmpty() && patterns.stream().allMatch(MessagesPattern::ofNodes));
    if (!alone) {
      all.addAll(against.isEmpty() ? MessagesImplementation.BASELINES : against);
    } else if (!against.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "--against is for throughput, request and asleep, with --dispatch inline and without --reuse");
    }
    return new ArrayList<>(new LinkedHashSet<>(all));
  }

  /**
   * Finds the agent if an implementation needs it. Without the agent, an implementation that the
   * user has not named is left out.
   *
   * @return null if no implementation needs it
   */
  private AgentJar agent(List<MessagesImplementation> implementations) throws HarnessException {
    if (!implementations.contains(MessagesImplementation.NETTY_KRYO_AGENT) || Pair.bothPlain()) {
      return null;
    }
    try {
      return AgentJar.locate(agent);
    } catch (HarnessException e) {
      if (agent != null || against.contains(MessagesImplementation.NETTY_KRYO_AGENT)) {
        throw e;
      }
      implementations.remove(MessagesImplementation.NETTY_KRYO_AGENT);
      PrintWriter told = spec.commandLine().getErr();
      told.println(MessagesImplementation.NETTY_KRYO_AGENT + " is left out: " + e.getMessage());
      told.flush();
      return null;
    }
  }

  private List<MessagesShown> cases(NodesHow how, Path jar, Timing timing, Pinning pinning) {
    List<Integer> wanted = sizes.isEmpty() ? Sizes.USUAL : sizes;
    checkSizes();
    for (int size : wanted) {
      if (reuse && !Sizes.isRecord(size)) {
        throw new ParameterException(
            spec.commandLine(), "--reuse is for --sizes 16 and 64, not for arrays of " + size);
      }
    }
    boolean usual = how.equals(NodesHow.USUAL);
    List<MessagesPattern> all = patterns;
    if (all.isEmpty()) {
      all = usual ? MessagesPattern.USUAL : List.of(MessagesPattern.THROUGHPUT);
    }
    List<MessagesShown> cases = new ArrayList<>();
    List<IdleStrategy> ways = idle.isEmpty() ? List.of(IdleStrategy.ADAPTIVE) : idle;
    for (MessagesPattern pattern : all) {
      for (int size : pattern == MessagesPattern.CONNECT ? wanted.subList(0, 1) : wanted) {
        for (IdleStrategy way : ways) {
          int count = pattern.nodes(nodes);
          cases.add(
              pattern.ofNodes() || !how.onlyThreads()
                  ? new NodesCase(pattern, count, size, how.with(way), timing, pinning)
                  : new MessagesCase(pattern, size, threads, way, jar, timing, pinning));
        }
      }
    }
    return cases.stream().distinct().toList(); // the user may name a size twice
  }

  private static String report(
      List<MessagesShown> cases,
      List<MessagesImplementation> implementations,
      Comparison found,
      Machine machine) {
    StringBuilder out = new StringBuilder();
    for (MessagesShown benchmarkCase : cases) {
      out.append(table(benchmarkCase, implementations, found).render()).append('\n');
    }
    for (MessagesImplementation implementation : implementations) {
      out.append(implementation).append(": ").append(implementation.description()).append('\n');
    }
    out.append('\n');
    machine.lines().forEach(line -> out.append(line).append('\n'));
    found.notes().forEach(line -> out.append(line).append('\n'));
    return out.append(found.compilingText()).toString();
  }

  private static Table table(
      MessagesShown benchmarkCase, List<MessagesImplementation> implementations, Comparison found) {
    boolean times = benchmarkCase.times() != null;
    Quantity quantity = benchmarkCase.quantity();
    String figure = times ? ">p50" : quantity == Quantity.TIME ? ">time" : ">a second";
    Table table =
        times
            ? new Table(benchmarkCase.label(), figure, ">range", ">p99", ">shm =")
            : new Table(benchmarkCase.label(), figure, ">range", ">shm =");
    Spread own = found.spread(benchmarkCase.measure(), MessagesImplementation.SHM);
    for (MessagesImplementation implementation : implementations) {
      Spread spread = found.spread(benchmarkCase.measure(), implementation);
      String median =
          found.cell(
              benchmarkCase.measure(),
              benchmarkCase.label(),
              implementation,
              all -> quantity.format(all.median()));
      if (median.isEmpty()) {
        continue; // it cannot do that
      }
      List<String> cells = new ArrayList<>(List.of(implementation.label(), median));
      if (spread == null) {
        cells.addAll(List.of("", ""));
        if (times) {
          cells.add("");
        }
        table.row(cells.toArray(String[]::new));
        continue;
      }
      cells.add(quantity.format(spread.min()) + " – " + quantity.format(spread.max()));
      if (times) {
        cells.add(
            Units.time(
                (double)
                    found.merged(benchmarkCase.times(), implementation).getValueAtPercentile(P99)));
      }
      cells.add(own == null ? "" : Units.times(own.median() / spread.median()));
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }
}
