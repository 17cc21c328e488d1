// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.Progress;
import io.talaria.cli.harness.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of every benchmark, those of sides and roads included, and what they make of it: a
 * mixin.
 */
public final class RoundOptions {
  private static final int USUAL_ROUNDS = 3;
  private static final double QUICK_WARM_UP = 0.7;
  private static final double MOST_SECONDS = 600;
  private static final int MOST_ROUNDS = 100;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Mixin private SideOptions sides;
  @Mixin private RoadOptions roads;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "How often each case is measured on each road, in turn, in new JVMs. Default: 3, with"
              + " --quick 1.")
  private Integer rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "How many seconds a case is warmed up at least; up to four times as long until compilers"
              + " rest. Default: 5, with --quick 0.7.")
  private Double warmUp;

  @Option(
      names = "--quick",
      description = "One short round: to see that everything works, not to quote from.")
  private boolean quick;

  @Option(
      names = "--no-pin",
      description = "Do not pin the JVMs to a core each (servers 0, client 1).")
  private boolean noPin;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write everything measured to a file, for machines.")
  private Path json;

  /** Creates the options; picocli fills them. */
  public RoundOptions() {}

  /** Returns which side is wanted. */
  public SideOptions sides() {
    return sides;
  }

  /** Returns whether one short round will do. */
  public boolean quick() {
    return quick;
  }

  /**
   * Returns how long to warm up.
   *
   * @throws ParameterException if the options do not fit
   */
  public WarmUpLength warmUp() {
    if (quick && warmUp != null) {
      throw new ParameterException(command.commandLine(), "--warm-up does not go with --quick");
    }
    double least = quick ? QUICK_WARM_UP : warmUp == null ? WarmUpLength.USUAL_SECONDS : warmUp;
    Limits.check(command.commandLine(), "--warm-up", least, 0, MOST_SECONDS);
    return new WarmUpLength(least);
  }

  /** Returns how many rounds there are. */
  private int rounds(boolean repeatable) {
    if (rounds != null) {
      Limits.check(command.commandLine(), "--rounds", rounds, 1, MOST_ROUNDS);
      if (rounds > 1 && !repeatable) {
        throw new ParameterException(
            command.commandLine(),
            "--rounds: what is inserted stays in the servers of --remote; there is one round only");
      }
      return rounds;
    }
    return quick || !repeatable ? 1 : USUAL_ROUNDS;
  }

  /**
   * Does what the options say: serves, or measures a benchmark on the roads wanted and prints what
   * it found.
   *
   * @param benchmark the benchmark
   * @return the exit status
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  public int compare(Benchmark benchmark) throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    warmUp();
    int wanted = rounds(benchmark.repeatable(side));
    checkFile();
    List<HostPort> remotes = sides.remotes(benchmark.several());
    Launch launch = roads.launch(Pinning.decide(!noPin));
    if (side == SideOptions.Side.SERVER) {
      benchmark.serve(launch, sides.address(), command.commandLine().getOut());
      return CommandLine.ExitCode.OK;
    }
    List<Contender> contenders = remotes.isEmpty() ? launch.compared() : List.of(launch.road());
    Machine machine = launch.machine();
    Comparison comparison = new Comparison(contenders);
    measure(benchmark.bouts(launch, remotes), wanted, contenders, comparison);
    Map<String, Object> options = new LinkedHashMap<>(benchmark.options());
    options.put("fabric", launch.fabric());
    options.put("rounds", wanted);
    options.put("javaOptions", launch.options());
    print(comparison, machine, benchmark.format(), options);
    return CommandLine.ExitCode.OK;
  }

  private void measure(
      List<Bout> bouts, int wanted, List<Contender> contenders, Comparison comparison)
      throws HarnessException, InterruptedException {
    double onceMs = bouts.stream().mapToDouble(Bout::expectedMs).sum();
    PrintWriter err = command.commandLine().getErr();
    double totalMs = onceMs * wanted * contenders.size();
    try (Progress progress = new Progress(err, Terminal.onStandardError(), totalMs)) {
      for (Bout bout : bouts) {
        for (int i = 1; i <= wanted; i++) {
          for (Contender contender : contenders) {
            measure(bout, new Round(i, wanted, contender, comparison, progress));
          }
        }
      }
    }
  }

  private static void measure(Bout bout, Round round)
      throws HarnessException, InterruptedException {
    try {
      bout.measure(round);
    } catch (HarnessException e) {
      throw new HarnessException(
          bout.label() + " on " + round.contender().label() + ": " + e.getMessage(), e);
    }
  }

  /** Refuses a file that cannot be written, before anything is measured. */
  private void checkFile() {
    Path folder = json == null ? null : json.toAbsolutePath().getParent();
    if (folder != null && !Files.isDirectory(folder)) {
      throw new ParameterException(command.commandLine(), "--json: there is no folder " + folder);
    }
  }

  private void print(
      Comparison comparison, Machine machine, String format, Map<String, Object> options)
      throws HarnessException {
    PrintWriter out = command.commandLine().getOut();
    out.print(comparison.text(machine));
    if (json != null) {
      try {
        Json.write(json, comparison.json(format, machine, options));
      } catch (IOException e) {
        throw new HarnessException("cannot write " + json + ": " + e.getMessage(), e);
      }
      out.println("Written: " + json);
    }
    out.flush();
  }
}
