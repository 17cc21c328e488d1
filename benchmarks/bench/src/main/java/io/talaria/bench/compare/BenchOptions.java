// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Limits;
import io.talaria.cli.harness.SizeConverter;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of benchmarks that measure {@link Trial trials}, each for some time: a mixin. */
public final class BenchOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = {"-l", "--length"},
      split = ",",
      paramLabel = "BYTES",
      converter = SizeConverter.class,
      description = "Lengths of messages and of responses. Default: 16, or as described above.")
  private List<Integer> sizes = new ArrayList<>();

  @Option(
      names = {"-c", "--connections"},
      split = ",",
      paramLabel = "N",
      description = "Numbers of connections. Default: 1, or as described above.")
  private List<Integer> connections = new ArrayList<>();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds to measure each case after its warm-up. Default: 2, with --quick 0.7.")
  private Double seconds;

  @Option(
      names = "--on-tcp",
      description =
          "Measure Talaria with all ports left out as well: what the agent costs where it does not"
              + " accelerate. Both sides must be on this machine.")
  private boolean onTcp;

  @Mixin private IterationOptions iterations;

  /** Creates the options; picocli fills them. */
  public BenchOptions() {}

  /** Returns which side is wanted. */
  public SideOptions sides() {
    return iterations.sides();
  }

  /**
   * Returns the lengths of messages.
   *
   * @param usual what holds if the user names none
   */
  public List<Integer> sizes(List<Integer> usual) {
    return sizes.isEmpty() ? usual : List.copyOf(sizes);
  }

  /**
   * Returns the numbers of connections.
   *
   * @param usual what holds if the user names none
   * @param most how many there may be
   * @throws ParameterException if there are too many
   */
  public List<Integer> connections(List<Integer> usual, int most) {
    connections.forEach(
        number -> Limits.check(command.commandLine(), "--connections", number, 1, most));
    return connections.isEmpty() ? usual : List.copyOf(connections);
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
    return run(main, format, trials, List.of());
  }

  /**
   * Runs a benchmark as the options say, by further implementations as well.
   *
   * @param main the class that its JVMs run
   * @param format the name of the format of its JSON
   * @param trials what to measure, each once though the user may name it twice; a server that
   *     stands alone is told the first one's job
   * @param more the implementations besides those that the options choose; measured only if both
   *     sides are on this machine
   * @return the exit status
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  public int run(
      Class<?> main,
      String format,
      List<? extends Trial> trials,
      List<? extends Implementation> more)
      throws HarnessException, InterruptedException {
    Timing timing = iterations.timing(seconds);
    List<Implementation> all = new ArrayList<>(more);
    if (onTcp) {
      sides().requireBoth();
      if (!iterations.onTalaria()) {
        throw new ParameterException(
            command.commandLine(), "--on-tcp: --transport tcp leaves Talaria out altogether");
      }
      all.add(Implementation.TALARIA_ON_TCP);
    }
    List<? extends Trial> once = trials.stream().distinct().toList();
    return iterations.compare(new Trials(main, format, once, timing, List.copyOf(all)));
  }

  private record Trials(
      Class<?> main,
      String format,
      List<? extends Trial> trials,
      Timing timing,
      List<? extends Implementation> more)
      implements Benchmark {
    @Override
    public List<Implementation> implementations(List<Implementation> sockets) {
      return Stream.concat(sockets.stream(), more.stream()).toList();
    }

    @Override
    public Map<String, Object> options() {
      Map<String, Object> options = new LinkedHashMap<>();
      options.put("trials", trials);
      options.put("timing", timing);
      return options;
    }

    @Override
    public boolean several() {
      return false;
    }

    @Override
    public void serve(Launch launch, HostPort where, PrintWriter out)
        throws HarnessException, InterruptedException {
      Orders.serve(launch, main, where, trials.get(0).job(timing), out);
    }

    @Override
    public List<BenchmarkCase> cases(Launch launch, List<HostPort> remotes) {
      return trials.stream()
          .<BenchmarkCase>map(trial -> new TrialCase(launch, main, timing, trial, remotes))
          .toList();
    }
  }
}
