// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.PinOptions;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.Limits;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options that say how often, how long and beside how many busy processes all is measured: a
 * mixin.
 */
public final class RepeatOptions {
  private static final int USUAL_ITERATIONS = 3;
  private static final double QUICK_WARM_UP = 0.7;
  private static final double QUICK_SECONDS = 0.7;
  private static final double USUAL_SECONDS = 2;
  private static final double MAX_SECONDS = 600;
  private static final int MAX_ITERATIONS = 100;
  private static final int MAX_BUSY = 1_024;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--iterations",
      paramLabel = "N",
      description =
          "Iterations: how often to measure each case with each implementation, in new processes."
              + " Default: 3, with --quick 1.")
  private Integer iterations;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "Seconds of warm-up of each case: at least S, at most four times S, until the JIT"
              + " compilers are idle. Default: 5 for applications, 1 for sockets and UCX, with"
              + " --quick 0.7.")
  private Double warmUp;

  @Option(
      names = "--busy",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Run N busy processes beside the benchmark, on any core, to simulate a busy host."
              + " Default: ${DEFAULT-VALUE}.")
  private int busy;

  @Option(
      names = "--same-distance",
      description =
          "Compare all implementations of an iteration at the same distance between the two cores,"
              + " which changes on virtual machines. What was measured at another distance is"
              + " measured again, so this takes up to three times as long.")
  private boolean sameDistance;

  @Option(
      names = "--quick",
      description =
          "Run one short iteration, to check that everything works. Do not quote its results.")
  private boolean quick;

  @Mixin private PinOptions pin = new PinOptions();

  /** Creates the options; picocli fills them. */
  public RepeatOptions() {}

  /** Returns whether one short iteration will do. */
  public boolean quick() {
    return quick;
  }

  /** Returns which JVM sits on which core. */
  public Pinning pinning() {
    return pin.pinning(command.commandLine());
  }

  /**
   * Returns how many busy processes run beside the benchmark.
   *
   * @throws ParameterException if they are too many
   */
  public int busy() {
    Limits.check(command.commandLine(), "--busy", busy, 0, MAX_BUSY);
    return busy;
  }

  /**
   * Returns whether an iteration measures all implementations at the same distance between the
   * cores.
   *
   * @throws ParameterException if there are busy processes, beside which no distance is measured
   */
  public boolean sameDistance() {
    if (sameDistance && busy > 0) {
      throw new ParameterException(
          command.commandLine(), "--same-distance does not go with --busy");
    }
    return sameDistance;
  }

  /**
   * Returns how long to warm up.
   *
   * @param usual the seconds if the user says nothing
   * @throws ParameterException if the options do not fit
   */
  public WarmUpLength warmUp(double usual) {
    if (quick && warmUp != null) {
      throw new ParameterException(command.commandLine(), "--warm-up does not go with --quick");
    }
    double least = quick ? QUICK_WARM_UP : warmUp == null ? usual : warmUp;
    Limits.check(command.commandLine(), "--warm-up", least, 0, MAX_SECONDS);
    return new WarmUpLength(least);
  }

  /**
   * Returns how long to warm up and to measure.
   *
   * @param seconds how long to measure, as the user says; null if nothing is said
   * @param usualWarmUp the shortest warm-up if the user says nothing
   * @throws ParameterException if the options do not fit
   */
  public Timing timing(Double seconds, double usualWarmUp) {
    return timing(seconds, usualWarmUp, USUAL_SECONDS);
  }

  /**
   * Returns the same where the user's silence means another length.
   *
   * @param seconds how long to measure, as the user says; null if nothing is said
   * @param usualWarmUp the shortest warm-up if the user says nothing
   * @param usualSeconds how long to measure then
   * @throws ParameterException if the options do not fit
   */
  public Timing timing(Double seconds, double usualWarmUp, double usualSeconds) {
    if (quick && seconds != null) {
      throw new ParameterException(command.commandLine(), "--seconds does not go with --quick");
    }
    double length = quick ? QUICK_SECONDS : seconds == null ? usualSeconds : seconds;
    Limits.check(command.commandLine(), "--seconds", length, 0.01, MAX_SECONDS);
    return new Timing(warmUp(usualWarmUp).seconds(), length);
  }

  /** Returns how many iterations the user wants; 0 if nothing is said. */
  int given() {
    return iterations == null ? 0 : iterations;
  }

  /**
   * Returns how many iterations there are.
   *
   * @throws ParameterException if they are too many, or none
   */
  public int iterations() {
    return iterations(USUAL_ITERATIONS);
  }

  /**
   * Returns the same where the user's silence means another number.
   *
   * @param usual how many iterations there are then, if they are not to be quick
   * @throws ParameterException if they are too many, or none
   */
  public int iterations(int usual) {
    if (iterations == null) {
      return quick ? 1 : usual;
    }
    Limits.check(command.commandLine(), "--iterations", iterations, 1, MAX_ITERATIONS);
    return iterations;
  }
}
