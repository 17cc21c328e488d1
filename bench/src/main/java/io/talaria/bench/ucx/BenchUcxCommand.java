// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.Rounds;
import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.PinOptions;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.ucx.UcxPeer.Order;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import io.talaria.cli.harness.Token;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code talaria bench ucx}. */
@Command(
    name = "ucx",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Measure UCX from Java between two processes, beside ucx_perftest on the same transport.",
      "",
      "JMH measures each case in a JVM of its own, against a server that follows. Each round runs"
          + " ucx_perftest before and after; shown are medians over the rounds with their range,"
          + " and the median of the rounds' ratios.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench ucx --quick",
      "  talaria bench ucx --operations tag,put --sizes 16,4K,1M --rounds 5",
      "  talaria bench ucx --operations atomics --measures latency --json result.json",
      "",
      "Between two hosts, over a network that is trusted:",
      "  there: talaria bench ucx --listen",
      "  here:  talaria bench ucx --remote HOST:13340 --token (what it printed there)",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage, 3 a target was missed (--strict), 69"
          + " UCX is missing."
    })
public final class BenchUcxCommand implements Callable<Integer> {
  private static final int UNAVAILABLE = 69; // EX_UNAVAILABLE of sysexits.h
  private static final int MOST_THREADS = 64;
  private static final Duration LISTEN_LIMIT = Duration.ofDays(365);

  @Spec private CommandSpec spec;

  @Option(
      names = "--operations",
      split = ",",
      paramLabel = "OPERATION",
      description =
          "What to measure: tag, tag-sync, stream (received into a buffer), stream-data (received"
              + " in place), put, get, am (active messages), add, and, or, xor, fetch-add,"
              + " fetch-and, fetch-or, fetch-xor, swap, compare-and-swap; or atomics, all. Default:"
              + " tag,stream,put.")
  private List<String> operations = new ArrayList<>();

  @Option(
      names = "--measures",
      split = ",",
      paramLabel = "MEASURE",
      description = "latency, throughput. Default: both.")
  private List<String> measures = new ArrayList<>();

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      converter = SizeConverter.class,
      description =
          "Sizes of messages. Default: 8 to 1M in eight steps; with --quick 16 and 64K. Atomics"
              + " have 4 and 8.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Threads, each with a connection of its own. More than one are not pinned."
              + " Default: ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Rounds of each case. Default: 3, with --quick 1.")
  private Integer rounds;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long to measure a case, after its warm-up. Default: 1.")
  private Double seconds;

  @Option(
      names = "--quick",
      description = "One short round: to see that everything works, not to quote from.")
  private boolean quick;

  @Option(
      names = "--transports",
      paramLabel = "LIST",
      description =
          "UCX_TLS of both sides and of ucx_perftest, such as rc or posix,self. Default: on one"
              + " host "
              + UcxPerftest.SHARED_MEMORY
              + ", between two what UCX chooses.")
  private String transports;

  @Option(
      names = "--listen",
      arity = "0..1",
      fallbackValue = "",
      paramLabel = "HOST:PORT",
      converter = HostPortConverter.class,
      description =
          "Be the server for a client on another host, until stopped. Default: all addresses, port"
              + " 13340.")
  private HostPort listen;

  @Option(
      names = "--remote",
      paramLabel = "HOST:PORT",
      converter = HostPortConverter.class,
      description = "Measure against a server that listens there, not one on this host.")
  private HostPort server;

  @Option(
      names = "--token",
      paramLabel = "WORD",
      description = "What a client must know to be served. Default: the server makes one up.")
  private String token;

  @Mixin private PinOptions pin = new PinOptions();

  @Option(names = "--no-perftest", description = "Leave ucx_perftest out, even if it is installed.")
  private boolean noPerftest;

  @Option(
      names = "--java-option",
      paramLabel = "OPTION",
      description = "A further option for all the JVMs; may be repeated.")
  private List<String> javaOptions = new ArrayList<>();

  @Mixin private OutputOptions output;

  /** Creates the command; picocli fills it. */
  public BenchUcxCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    check("--threads", threads, 1, MOST_THREADS);
    output.check();
    if (listen != null && server != null) {
      throw usage("--listen is for one host, --remote for the other");
    }
    if (server != null && (server.host().isEmpty() || token == null)) {
      throw usage("--remote needs a host, and the --token that was printed there");
    }
    try {
      return listen != null ? serve() : measure();
    } catch (UcxMissingException e) {
      spec.commandLine().getErr().println("talaria: " + e.getMessage());
      return UNAVAILABLE;
    }
  }

  private Pinning pinning() {
    return threads == 1
        ? pin.pinning(spec.commandLine())
        : new Pinning(Pinning.NONE, Pinning.NONE, "several threads");
  }

  private int serve() throws HarnessException, InterruptedException, UcxMissingException {
    String word = token == null ? Token.random() : token;
    UcxPeer.Job job =
        new UcxPeer.Job(true, listen.host(), listen.port(), word, pinning().serverCore());
    try (ChildJvm child = Duo.start(job, javaOptions)) {
      UcxPeer.Listening listening = Duo.awaitReady(child);
      PrintWriter out = spec.commandLine().getOut();
      out.println(
          "Listening at "
              + (listen.host().isEmpty() ? "all addresses" : listen.host())
              + ", port "
              + listening.port()
              + ", with UCX "
              + listening.ucx()
              + "; on the other host:");
      out.println(
          "  talaria bench ucx --remote "
              + (listen.host().isEmpty() ? "THIS-HOST" : listen.host())
              + ":"
              + listening.port()
              + " --token "
              + word);
      out.flush();
      child.next("the end", LISTEN_LIMIT);
      return CommandLine.ExitCode.OK;
    }
  }

  private int measure() throws HarnessException, InterruptedException, UcxMissingException {
    final List<Case> cases = cases();
    final UcxTiming timing = timing();
    final int wantedRounds = rounds != null ? rounds : quick ? 1 : 3;
    check("--rounds", wantedRounds, 1, 100);
    Pinning pinning = pinning();
    Machine machine = Machine.describe(BuildVersion.talaria(), pinning);
    String tls = transports != null ? transports : server == null ? UcxPerftest.SHARED_MEMORY : "";
    try (Duo duo = duo(pinning);
        Baseline baseline = baseline(pinning, tls, timing.seconds() / 2)) {
      boolean yields = 2 * threads > machine.cores();
      List<UcxBout> bouts =
          cases.stream()
              .map(one -> new UcxBout(duo, baseline, new Order(one, timing, tls, yields)))
              .toList();
      Comparison found = new Comparison(List.of(Contender.TALARIA));
      Map<String, Object> options = options(tls, timing, wantedRounds, duo.ucx());
      found.note("UCX      " + duo.ucx() + ", UCX_TLS=" + options.get("transports"));
      found.note("Latency  there and back; get and atomics: until it is done");
      found.note("Window   throughput, up to " + Side.WINDOW + " in flight");
      new Rounds(wantedRounds, 0, spec.commandLine().getErr()).measure(List.copyOf(bouts), found);
      bouts.forEach(bout -> bout.judge(found));
      return output.print(found, machine, "talaria-bench-ucx-2", options);
    }
  }

  private Duo duo(Pinning pinning)
      throws HarnessException, InterruptedException, UcxMissingException {
    return server == null
        ? Duo.here(token == null ? Token.random() : token, pinning, javaOptions)
        : Duo.to(server.host(), server.port(), token, pinning, javaOptions);
  }

  private Baseline baseline(Pinning pinning, String tls, double length) throws HarnessException {
    if (noPerftest) {
      return null;
    }
    if (!UcxPerftest.installed()) {
      spec.commandLine()
          .getErr()
          .println("no ucx_perftest (package ucx-utils): there will be no ratios");
      return null;
    }
    return server == null
        ? Baseline.here(pinning, tls, length)
        : Baseline.to(server.host(), server.port(), token, pinning, tls, length);
  }

  private Map<String, Object> options(String tls, UcxTiming timing, int wantedRounds, String ucx) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("ucx", ucx);
    options.put("transports", tls.isEmpty() ? "all" : tls);
    options.put("threads", threads);
    options.put("rounds", wantedRounds);
    options.put("timing", timing);
    options.put("server", server == null ? "this host" : server.host());
    options.put("javaOptions", javaOptions);
    return options;
  }

  private List<Case> cases() {
    try {
      Set<Operation> chosen = UcxPlan.operations(operations);
      return UcxPlan.cases(chosen, UcxPlan.kinds(measures), sizes, threads, quick);
    } catch (IllegalArgumentException e) {
      throw usage(e.getMessage());
    }
  }

  private UcxTiming timing() {
    if (quick) {
      if (seconds != null) {
        throw usage("--seconds does not go with --quick");
      }
      return UcxTiming.quick();
    }
    double length = seconds == null ? 1 : seconds;
    check("--seconds", length, 0.1, 600);
    return UcxTiming.full(length);
  }

  private void check(String option, Number value, double least, double most) {
    Limits.check(spec.commandLine(), option, value, least, most);
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
