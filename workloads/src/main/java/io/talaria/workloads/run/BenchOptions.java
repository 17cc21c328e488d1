// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.Machine;
import io.talaria.cli.harness.Pinning;
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

/** The options that all benchmarks share, those of sides and roads included: a mixin. */
public final class BenchOptions {
  private static final int USUAL_ROUNDS = 3;
  private static final double USUAL_SECONDS = 2;
  private static final double USUAL_WARM_UP = 1;
  private static final double QUICK_SECONDS = 0.7;
  private static final double MOST_SECONDS = 600;
  private static final int MOST_ROUNDS = 100;
  private static final int MOST_EVENT_LOOPS = 1_024;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Mixin private SideOptions sides;
  @Mixin private RoadOptions roads;

  @Option(
      names = "--event-loops",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Event loops of each side, with --server or --remote of that side; more want --no-pin."
              + " Default: ${DEFAULT-VALUE}.")
  private int eventLoops;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "How often each case is measured on each road, in turn, in new JVMs. Default: 3, with"
              + " --quick 1.")
  private Integer rounds;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long a case is measured, after its warm-up. Default: 2.")
  private Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "How long a case is warmed up at least; three times as long until compilers rest."
              + " Default: 1.")
  private Double warmUp;

  @Option(
      names = "--quick",
      description = "One short round: to see that everything works, not to quote from.")
  private boolean quick;

  @Option(
      names = "--no-pin",
      description = "Do not pin the JVMs to a core each (server 0, client 1).")
  private boolean noPin;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write everything measured to a file, for machines.")
  private Path json;

  /** Creates the options; picocli fills them. */
  public BenchOptions() {}

  /** Returns which side is wanted. */
  public SideOptions sides() {
    return sides;
  }

  /**
   * Returns how JVMs are started.
   *
   * @throws HarnessException if Talaria is wanted, and there is no agent
   */
  public Launch launch() throws HarnessException {
    return roads.launch(Pinning.decide(!noPin));
  }

  /** Returns how many event loops this side has. */
  public int eventLoops() {
    Limits.check(command.commandLine(), "--event-loops", eventLoops, 1, MOST_EVENT_LOOPS);
    return eventLoops;
  }

  /** Returns how long to warm up and to measure. */
  public Timing timing() {
    if (quick && (seconds != null || warmUp != null)) {
      throw new ParameterException(
          command.commandLine(), "--seconds and --warm-up do not go with --quick");
    }
    double length = quick ? QUICK_SECONDS : seconds == null ? USUAL_SECONDS : seconds;
    double least = quick ? QUICK_SECONDS : warmUp == null ? USUAL_WARM_UP : warmUp;
    Limits.check(command.commandLine(), "--seconds", length, 0.01, MOST_SECONDS);
    Limits.check(command.commandLine(), "--warm-up", least, 0, MOST_SECONDS);
    return new Timing(least, length);
  }

  /** Returns how many rounds there are. */
  public int rounds() {
    int wanted = rounds != null ? rounds : quick ? 1 : USUAL_ROUNDS;
    Limits.check(command.commandLine(), "--rounds", wanted, 1, MOST_ROUNDS);
    return wanted;
  }

  /**
   * Runs a benchmark as the options say, and prints what it found.
   *
   * @param main the class that its JVMs run
   * @param format the name of the format of its JSON
   * @param trials what to measure; a server that stands alone is told the first one's job
   * @return the exit status
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  public int run(Class<?> main, String format, List<? extends Trial> trials)
      throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    Timing timing = timing();
    int wanted = rounds();
    check();
    Launch launch = launch();
    PrintWriter out = command.commandLine().getOut();
    if (side == SideOptions.Side.SERVER) {
      Orders.serve(launch, main, sides.address(), trials.getFirst().job(timing), out);
      return CommandLine.ExitCode.OK;
    }
    boolean alone = side == SideOptions.Side.CLIENT;
    List<Contender> contenders = alone ? List.of(launch.road()) : launch.compared();
    Machine machine = launch.machine();
    Comparison comparison = new Comparison(contenders);
    double totalMs = timing.expectedMs() * trials.size() * wanted * contenders.size();
    try (Progress progress =
        new Progress(command.commandLine().getErr(), Terminal.onStandardError(), totalMs)) {
      Rounds round = new Rounds(launch, main, timing, progress);
      for (Trial trial : trials) {
        for (int i = 1; i <= wanted; i++) {
          for (Contender contender : contenders) {
            String what =
                String.format(
                    "%s, %s, round %d of %d", trial.label(), contender.label(), i, wanted);
            Found found = round.run(trial, contender, alone ? sides.remote() : null, what);
            comparison.add(trial.id(), trial.label(), contender, found);
          }
        }
      }
    }
    print(comparison, machine, format, options(trials, launch, timing, wanted));
    return CommandLine.ExitCode.OK;
  }

  private static Map<String, Object> options(
      List<? extends Trial> trials, Launch launch, Timing timing, int rounds) {
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("trials", trials);
    options.put("fabric", launch.fabric());
    options.put("rounds", rounds);
    options.put("timing", timing);
    options.put("javaOptions", launch.options());
    return options;
  }

  /**
   * Refuses a file that cannot be written, before anything is measured.
   *
   * @throws ParameterException if there is no such folder
   */
  public void check() {
    Path folder = json == null ? null : json.toAbsolutePath().getParent();
    if (folder != null && !Files.isDirectory(folder)) {
      throw new ParameterException(command.commandLine(), "--json: there is no folder " + folder);
    }
  }

  /**
   * Prints what was found, and writes it to the file that the user has named, if any.
   *
   * @param comparison what was found
   * @param machine the conditions
   * @param format the name of the format of the JSON
   * @param options what was asked for
   * @throws HarnessException if the file cannot be written
   */
  public void print(
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
