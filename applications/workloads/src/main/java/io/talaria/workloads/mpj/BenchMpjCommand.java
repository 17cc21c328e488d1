// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.compare.OutputOptions;
import io.talaria.bench.compare.RepeatOptions;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Words;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.BuildVersion;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import java.io.PrintWriter;
import java.nio.file.Path;
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

/** The command {@code talaria bench mpj}. */
@Command(
    name = "mpj",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    description = {
      "Compare message passing from Java between processes of this host with MPI in C, MPJ"
          + " Express, ucx_perftest and a socket. Each process is pinned to a core.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  talaria bench mpj --quick",
      "  talaria bench mpj half rate --devices shm --against ompi-ob1,ompi-ucx",
      "  talaria bench mpj barrier bcast allreduce --ranks 4,8 --json ranks.json",
      "  talaria bench mpj cg is --class A --devices shm --against ompi-ob1,express",
      "",
      "The launcher of each implementation starts its ranks anew for each pattern; the"
          + " implementations take turns in each iteration. Baselines in C are compiled first. A"
          + " baseline that is not installed is named, and its columns stay empty.",
      "",
      "--warm-up (default here: 2) and --seconds apply to a pattern, whose sizes share them;"
          + " --iterations defaults to 5. Ratios of what is measured in blocks are of the fastest"
          + " blocks. Kernels run once per iteration and verify their results.",
      "",
      "Results are medians over the iterations, with their range, and the ratios of Talaria to"
          + " the baselines, with the targets of two ranks.",
      "",
      "Exit status: 0 done, 1 a run failed, 2 wrong usage, 3 a target was missed (--strict)."
    })
public final class BenchMpjCommand implements Subcommand {
  private static final int USUAL_ITERATIONS = 5;
  private static final double USUAL_WARM_UP = 2;
  private static final int MAX_RANKS = 16;
  private static final int QUICK_LESS = 10;
  private static final int CROWDED_LESS = 100;
  private static final String FORMAT = "talaria-bench-mpj-2";

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..*",
      paramLabel = "PATTERN",
      description =
          "What to measure: ${COMPLETION-CANDIDATES}; docs/mpj.md describes them. Default: half"
              + " to reduce-scatter (messages and collectives).")
  private List<MpjPattern> patterns = new ArrayList<>();

  @Option(
      names = "--devices",
      split = ",",
      paramLabel = "DEVICE",
      converter = Own.class,
      description =
          "Talaria's devices to measure: shm, shm-progress (only overlap), ucx, nio,"
              + " nio-agent. Default: all.")
  private List<MpjImplementation> devices = new ArrayList<>();

  @Option(
      names = "--against",
      split = ",",
      paramLabel = "NAME",
      converter = Baseline.class,
      description =
          "Baselines: ompi-ob1, ompi-ucx, mpich, express, express-nio, perftest, sockets."
              + " Default: all.")
  private List<MpjImplementation> against = new ArrayList<>();

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      converter = SizeConverter.class,
      description = "Message sizes. Default: those of each pattern, from 8 to 16M.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = "--ranks",
      split = ",",
      paramLabel = "N",
      description =
          "Numbers of ranks, which share the two cores; message patterns always use two. Default:"
              + " 2; for kernels 1, 2 and 4; for start and memory 2, 8 and 16.")
  private List<Integer> ranks = new ArrayList<>();

  @Option(
      names = "--class",
      paramLabel = "CLASS",
      description = "Problem class of the kernels: S, W or A. Default: A, with --quick S.")
  private String problem;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds to measure each pattern. Default: 2, with --quick 0.7.")
  private Double seconds;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent jar, for nio-agent. Default: dist/talaria.jar.")
  private Path agent;

  @Mixin private RepeatOptions repeat;
  @Mixin private OutputOptions output;

  /** Creates the command; picocli fills it. */
  public BenchMpjCommand() {}

  static final class Own extends Words<MpjImplementation> {
    Own() {
      super(MpjImplementation.OWN);
    }
  }

  static final class Baseline extends Words<MpjImplementation> {
    Baseline() {
      super(MpjImplementation.BASELINES);
    }
  }

  @Override
  public String parent() {
    return "bench";
  }

  @Override
  public Integer call() throws HarnessException, InterruptedException {
    output.check();
    int iterations = repeat.iterations(USUAL_ITERATIONS);
    int busy = repeat.busy();
    boolean sameDistance = repeat.sameDistance();
    Timing timing = repeat.timing(seconds, USUAL_WARM_UP);
    Pinning pinning = repeat.pinning();
    List<MpjJob> jobs = jobs(timing);
    List<MpjImplementation> wanted = implementations(jobs);
    Machine machine = Machine.describe(BuildVersion.talaria(), pinning).beside(busy);
    Comparison found = new Comparison(wanted);
    List<MpjPattern> asked = jobs.stream().map(MpjJob::pattern).distinct().toList();
    try (MpjLaunch launch = MpjLaunch.prepare(wanted, asked, agent, pinning)) {
      Map<MpjImplementation, String> absent = launch.absent();
      List<MpjImplementation> here =
          wanted.stream().filter(one -> !absent.containsKey(one)).toList();
      List<MpjCase> cases = jobs.stream().map(job -> new MpjCase(launch, job, here)).toList();
      PrintWriter progress = spec.commandLine().getErr();
      new Iterations(iterations, busy, sameDistance, progress).measure(List.copyOf(cases), found);
      MpjTargets targets = new MpjTargets(found);
      targets.judge(cases, busy == 0 && pinning.active());
      MpjReport report = new MpjReport(machine, found, cases, wanted, absent, targets);
      Map<String, Object> options = new LinkedHashMap<>();
      options.put("iterations", iterations);
      options.put("busy", busy);
      options.put("quick", repeat.quick());
      options.put("timing", timing);
      options.put("absent", absent);
      return output.print(report.text(), found, machine, FORMAT, options);
    }
  }

  private List<MpjImplementation> implementations(List<MpjJob> jobs) {
    List<MpjImplementation> all = new ArrayList<>(devices);
    if (devices.isEmpty()) {
      MpjImplementation.OWN.stream()
          .filter(own -> jobs.stream().anyMatch(job -> own.does(job.pattern(), job.ranks())))
          .forEach(all::add);
    }
    all.addAll(against.isEmpty() ? MpjImplementation.BASELINES : against);
    return all.stream().distinct().toList();
  }

  private List<MpjJob> jobs(Timing timing) {
    List<MpjJob> jobs = new ArrayList<>();
    for (MpjPattern pattern : patterns.isEmpty() ? MpjPattern.usual() : patterns) {
      for (int number : ranks(pattern)) {
        jobs.add(job(pattern, number, timing));
      }
    }
    return jobs.stream().distinct().toList();
  }

  private List<Integer> ranks(MpjPattern pattern) {
    List<Integer> all = pattern.ranks(ranks);
    int least = pattern.kernel() == null ? 2 : 1;
    all.forEach(number -> Limits.check(spec.commandLine(), "--ranks", number, least, MAX_RANKS));
    return all;
  }

  private char problem() {
    String word = problem != null ? problem : repeat.quick() ? "S" : "A";
    if (!List.of("S", "W", "A").contains(word)) {
      throw new ParameterException(
          spec.commandLine(), "--class: there is no class " + word + ", but S, W, A");
    }
    return word.charAt(0);
  }

  private MpjJob job(MpjPattern pattern, int number, Timing timing) {
    boolean none = pattern.sizes().equals(List.of(0));
    List<Integer> chosen =
        sizes.isEmpty() || none ? pattern.sizes() : sizes.stream().distinct().toList();
    for (int bytes : chosen) {
      if (pattern.ofDoubles() && bytes % Double.BYTES != 0) {
        throw new ParameterException(
            spec.commandLine(),
            "--sizes: " + pattern + " sends doubles, " + bytes + " bytes are no number of them");
      }
    }
    // Fewer sizes make a short iteration shorter; else they share all the time.
    int shares = repeat.quick() ? Math.max(chosen.size(), pattern.sizes().size()) : chosen.size();
    double warmUp = timing.warmUpSeconds() / shares;
    double each = timing.seconds() / shares;
    int crowded = number > 2 ? CROWDED_LESS : 1;
    int less = crowded * (repeat.quick() ? QUICK_LESS : 1);
    return new MpjJob(pattern, number, chosen, warmUp, each, less, problem());
  }
}
