// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.RepeatOptions;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.engine.BenchmarkServerOptions;
import io.talaria.bench.engine.LibraryMissingException;
import io.talaria.bench.engine.Phases;
import io.talaria.bench.engine.WorkerPool;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.plan.BindingKind;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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
      "Measure UCX from Java between two processes, and ucx_perftest on the same transport.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench ucx --quick",
      "  talaria bench ucx --operations tag,put --sizes 16,4K,1M --iterations 5",
      "  talaria bench ucx --operations atomics --measures latency --json result.json",
      "",
      "Between two hosts, on a trusted network:",
      "  server: talaria bench ucx --listen",
      "  client: talaria bench ucx --remote HOST --token TOKEN (printed by the server)",
      "",
      "Each iteration measures each case between two new JVMs five times after the warm-up and"
          + " takes the median. It runs ucx_perftest before and after. Results are medians over"
          + " the iterations, with their range; the ratio is the median of the ratios of the"
          + " iterations.",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage, 3 a target was missed (--strict), 69"
          + " UCX is missing."
    })
public final class BenchUcxCommand implements Callable<Integer> {
  private static final int UNAVAILABLE = 69; // EX_UNAVAILABLE of sysexits.h
  private static final int MAX_THREADS = 64;
  private static final double WARM_UP_SECONDS = 1;
  private static final double SECONDS = 1;

  @Spec private CommandSpec spec;

  @Option(
      names = "--operations",
      split = ",",
      paramLabel = "OPERATION",
      description =
          "What to measure: tag, tag-sync, stream (received into a buffer), stream-data (received"
              + " in place), put, get, am (active messages), add, and, or, xor, fetch-add,"
              + " fetch-and, fetch-or, fetch-xor, swap, compare-and-swap; atomics for all atomic"
              + " operations, or all. Default: tag,stream,put.")
  private List<String> operations = new ArrayList<>();

  @Option(
      names = "--measures",
      split = ",",
      paramLabel = "MEASURE",
      description = "${COMPLETION-CANDIDATES}. Default: both.")
  private List<Kind> measures = new ArrayList<>();

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      converter = SizeConverter.class,
      description =
          "Message sizes. Default: eight sizes from 8 to 1M; with --quick 16 and 64K. Atomic"
              + " operations have sizes 4 and 8.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Number of threads, each with its own connection. More than one are not pinned; between"
              + " two hosts, give it on both sides. Default: ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds to measure each case after its warm-up. Default: 1, with --quick 0.7.")
  private Double seconds;

  @Option(
      names = "--transports",
      paramLabel = "LIST",
      description =
          "UCX_TLS of both sides and of ucx_perftest, such as rc or posix,self. Default on one"
              + " host: "
              + UcxPerftest.SHARED_MEMORY
              + "; between two: UCX chooses.")
  private String transports;

  @Option(names = "--no-perftest", description = "Do not run ucx_perftest for comparison.")
  private boolean noPerftest;

  @Mixin private BenchmarkServerOptions benchmarkServer = new BenchmarkServerOptions();
  @Mixin private RepeatOptions repeat;
  @Mixin private OutputOptions output;

  /** Creates the command; picocli fills it. */
  public BenchUcxCommand() {}

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    Limits.check(spec.commandLine(), "--threads", threads, 1, MAX_THREADS);
    output.check();
    benchmarkServer.check();
    Timing timing = repeat.timing(seconds, WARM_UP_SECONDS, SECONDS);
    List<Case> cases = cases();
    int iterations = repeat.iterations();
    int busy = repeat.busy();
    if (threads > 1 && spec.commandLine().getParseResult().hasMatchedOption("--cores")) {
      throw new ParameterException(
          spec.commandLine(), "--cores does not go with several --threads, which are not pinned");
    }
    Pinning pinning =
        threads == 1
            ? repeat.pinning()
            : new Pinning(Pinning.NONE, Pinning.NONE, "several threads");
    if (benchmarkServer.listens()) {
      return benchmarkServer.serve(pinning, null, List.of());
    }
    try (WorkerPool workerPool = benchmarkServer.workerPool(2, pinning, null, List.of())) {
      Machine machine = Machine.describe(BuildVersion.talaria(), pinning).beside(busy);
      boolean spins = 2 * threads <= machine.cores();
      return measure(
          cases,
          new UcxRun(workerPool, perftest(pinning), timing, transports(), spins),
          new Iterations(iterations, busy, repeat.sameDistance(), spec.commandLine().getErr()),
          machine);
    } catch (LibraryMissingException e) {
      spec.commandLine().getErr().println("talaria: " + e.getMessage());
      return UNAVAILABLE;
    }
  }

  private int measure(List<Case> cases, UcxRun run, Iterations iterations, Machine machine)
      throws HarnessException, InterruptedException {
    String ucx = run.with(BindingKind.UCX_TAG, 1, Phases::initialize);
    Map<String, Object> options = options(run, iterations, ucx);
    Comparison found = new Comparison(List.of(Implementation.TALARIA));
    found.note("UCX      " + ucx + ", UCX_TLS=" + options.get("transports"));
    found.note("Latency  there and back; get and atomics: until it is done");
    found.note("Window   throughput, up to " + Operation.WINDOW + " in flight");
    List<UcxCase> measured = cases.stream().map(one -> new UcxCase(one, run)).toList();
    iterations.measure(List.copyOf(measured), found);
    if (iterations.busy() == 0) {
      measured.forEach(benchmarkCase -> benchmarkCase.judge(found));
    }
    return output.print(found, machine, "talaria-bench-ucx-4", options);
  }

  private String transports() {
    return transports != null
        ? transports
        : benchmarkServer.remote() == null ? UcxPerftest.SHARED_MEMORY : "";
  }

  private UcxPerftest perftest(Pinning pinning) {
    if (noPerftest) {
      return null;
    }
    if (!UcxPerftest.installed()) {
      spec.commandLine()
          .getErr()
          .println("no ucx_perftest (package ucx-utils): there will be no ratios");
      return null;
    }
    return new UcxPerftest(pinning);
  }

  private Map<String, Object> options(UcxRun run, Iterations iterations, String ucx) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("ucx", ucx);
    options.put("transports", run.transports().isEmpty() ? "all" : run.transports());
    options.put("threads", threads);
    options.put("iterations", iterations.iterations());
    options.put("timing", run.timing());
    options.put("busy", iterations.busy());
    options.put(
        "server", benchmarkServer.remote() == null ? "this host" : benchmarkServer.remote().host());
    options.put("javaOptions", benchmarkServer.javaOptions());
    return options;
  }

  private List<Case> cases() {
    try {
      return UcxPlan.cases(
          UcxPlan.operations(operations), measures, sizes, threads, repeat.quick());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
  }
}
