// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Machine;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.HostPort;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of a benchmark of applications, whose server may be elsewhere: those of sides,
 * transports, iterations and files, and what they make of it: a mixin.
 */
public final class IterationOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Mixin private SideOptions sides;
  @Mixin private TransportOptions transports;
  @Mixin private RepeatOptions repeat;
  @Mixin private OutputOptions output;

  /** Creates the options; picocli fills them. */
  public IterationOptions() {}

  /** Returns which side is wanted. */
  public SideOptions sides() {
    return sides;
  }

  /** Returns whether one short iteration will do. */
  public boolean quick() {
    return repeat.quick();
  }

  /**
   * Returns how long to warm up.
   *
   * @throws ParameterException if the options do not fit
   */
  public WarmUpLength warmUp() {
    return repeat.warmUp(WarmUpLength.USUAL_SECONDS);
  }

  /**
   * Returns how long to warm up and to measure.
   *
   * @param seconds how long to measure, as the user says; null if nothing is said
   * @throws ParameterException if the options do not fit
   */
  Timing timing(Double seconds) {
    return repeat.timing(seconds, WarmUpLength.USUAL_SECONDS);
  }

  /** Returns how many iterations there are. */
  private int iterations(boolean repeatable) {
    if (!repeatable && repeat.given() > 1) {
      throw new ParameterException(
          command.commandLine(),
          "--iterations: what is inserted stays in the servers of --remote; there is one iteration only");
    }
    return repeatable ? repeat.iterations() : 1;
  }

  /** Returns whether anything runs on Talaria. */
  boolean onTalaria() {
    return transports.onTalaria();
  }

  /**
   * Does what the options say: serves, or measures a benchmark on the transports wanted and prints
   * what it found.
   *
   * @param benchmark the benchmark
   * @return the exit status
   * @throws HarnessException if it failed, or was not accelerated though it should be
   * @throws InterruptedException if interrupted
   */
  public int compare(Benchmark benchmark) throws HarnessException, InterruptedException {
    SideOptions.Side side = sides.side();
    warmUp();
    repeat.iterations();
    int wanted = iterations(benchmark.repeatable(side));
    output.check();
    List<HostPort> remotes = sides.remotes(benchmark.several());
    Launch launch = transports.launch(repeat.pinning());
    if (side == SideOptions.Side.SERVER) {
      benchmark.serve(launch, sides.address(), command.commandLine().getOut());
      return CommandLine.ExitCode.OK;
    }
    List<Implementation> implementations =
        remotes.isEmpty()
            ? benchmark.implementations(launch.compared())
            : List.of(launch.implementation());
    Machine machine = launch.machine().beside(repeat.busy());
    Comparison found = new Comparison(implementations);
    new Iterations(wanted, repeat.busy(), repeat.sameDistance(), command.commandLine().getErr())
        .measure(benchmark.cases(launch, remotes), found);
    Map<String, Object> options = new LinkedHashMap<>(benchmark.options());
    options.put("transport", launch.transport());
    options.put("iterations", wanted);
    options.put("busy", repeat.busy());
    options.put("javaOptions", launch.options());
    return output.print(found, machine, benchmark.format(), options);
  }
}
