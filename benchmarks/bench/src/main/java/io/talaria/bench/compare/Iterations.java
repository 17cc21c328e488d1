// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.BusyProcesses;
import io.talaria.bench.harness.CoreDistance;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.JvmExit;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Progress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;

/**
 * The engine: measures all cases, iteration by iteration, by each implementation in turn, so that
 * all have the same share of what the machine does meanwhile.
 *
 * @param iterations how many iterations there are
 * @param busy how many busy processes run beside the benchmark
 * @param sameDistance whether an iteration measures all implementations at the same {@linkplain
 *     CoreDistance distance} between the cores: what was measured at another one is measured again,
 *     up to three times as many runs as there are implementations
 * @param progress where to show what is done, in the form that suits this process
 */
public record Iterations(int iterations, int busy, boolean sameDistance, PrintWriter progress) {
  private static final int MAX_RUNS = 3;
  private static final String UNMEASURED =
      "--same-distance: the distance between the cores could not be measured, which needs exactly"
          + " two of them; figures may be of several distances";

  /** {@link CoreDistance#measure}, or what a test has in its place. */
  @FunctionalInterface
  interface DistanceMeter {
    OptionalDouble measure() throws InterruptedException;
  }

  /** One iteration of a case. */
  private record Turn(
      BenchmarkCase benchmarkCase,
      int number,
      int all,
      Comparison found,
      Progress shown,
      BusyProcesses beside,
      DistanceMeter meter) {
    List<Implementation> implementations() {
      return found.implementations();
    }

    /** Measures by one implementation, and adds what is found to a comparison. */
    void run(Implementation implementation, Comparison to) throws InterruptedException {
      to.begin(benchmarkCase.label(), number);
      measure(benchmarkCase, new Iteration(number, all, implementation, to, shown), beside);
    }
  }

  /**
   * Measures. What fails has no figure in its iteration, which is added to what is found, too; all
   * else is measured.
   *
   * @param cases what
   * @param found where to add what is found; it names the implementations
   * @throws HarnessException if the busy processes do not start
   * @throws InterruptedException if interrupted
   */
  public void measure(List<BenchmarkCase> cases, Comparison found)
      throws HarnessException, InterruptedException {
    measure(cases, found, CoreDistance::measure);
  }

  void measure(List<BenchmarkCase> cases, Comparison found, DistanceMeter meter)
      throws HarnessException, InterruptedException {
    List<Implementation> implementations = found.implementations();
    double totalMs =
        cases.stream()
            .mapToDouble(
                benchmarkCase ->
                    benchmarkCase.iterations(iterations)
                        * expectedMs(benchmarkCase, implementations))
            .sum();
    try (BusyProcesses beside = BusyProcesses.start(busy);
        Progress shown = new Progress(progress, Progress.Form.wanted(), totalMs)) {
      for (BenchmarkCase benchmarkCase : cases) {
        int own = benchmarkCase.iterations(iterations);
        List<Double> distances = new ArrayList<>();
        for (int i = 1; i <= own; i++) {
          Turn turn = new Turn(benchmarkCase, i, own, found, shown, beside, meter);
          (sameDistance ? atOneDistance(turn) : once(turn)).ifPresent(distances::add);
        }
        String distance = CoreDistance.describe(distances);
        if (!distance.isEmpty()) {
          found.note(benchmarkCase.label() + ", " + distance);
        }
      }
    } finally {
      found.begin("", 0);
    }
  }

  private static double expectedMs(
      BenchmarkCase benchmarkCase, List<Implementation> implementations) {
    return implementations.stream().mapToDouble(benchmarkCase::expectedMs).sum();
  }

  /** Measures once by each implementation, and returns the distance before. */
  private static OptionalDouble once(Turn turn) throws InterruptedException {
    OptionalDouble distance = turn.meter.measure();
    for (Implementation implementation : turn.implementations()) {
      turn.run(implementation, turn.found);
    }
    return distance;
  }

  /** Measures until each implementation was measured at one distance, and returns that. */
  private static OptionalDouble atOneDistance(Turn turn) throws InterruptedException {
    RunsByDistance runs = new RunsByDistance(turn.implementations());
    OptionalDouble before = turn.meter.measure();
    for (int left = MAX_RUNS * turn.implementations().size(); left > 0; left--) {
      Implementation implementation = runs.next(before, left);
      Comparison found = new Comparison(turn.implementations());
      turn.run(implementation, found);
      OptionalDouble after = turn.meter.measure();
      runs.add(implementation, found, before, after);
      if (runs.complete()) {
        break;
      }
      before = after;
    }
    if (!runs.complete()) {
      turn.found.note(
          turn.benchmarkCase.label()
              + ", iteration "
              + turn.number
              + ": the distance between the cores changed too often, the figures are of several");
    } else if (runs.distance().isEmpty() && !turn.found.notes().contains(UNMEASURED)) {
      turn.found.note(UNMEASURED);
    }
    runs.chosen().forEach(turn.found::addAll);
    return runs.distance();
  }

  private static void measure(
      BenchmarkCase benchmarkCase, Iteration iteration, BusyProcesses beside)
      throws InterruptedException {
    try {
      beside.check();
      benchmarkCase.measure(iteration);
      beside.check();
    } catch (HarnessException e) {
      awaitExit();
      fail(benchmarkCase, iteration, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      // A bug in the benchmark itself: the developer who fixes it needs the trace.
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace, true));
      fail(benchmarkCase, iteration, trace.toString().stripTrailing());
    }
  }

  /**
   * Returns unless this JVM is exiting. Its shutdown hooks end the children first: a case that
   * fails by that has not failed, and no other case begins.
   */
  private static void awaitExit() throws InterruptedException {
    if (JvmExit.begun()) {
      new CountDownLatch(1).await(); // the JVM exits meanwhile
    }
  }

  private static void fail(BenchmarkCase benchmarkCase, Iteration iteration, String cause) {
    iteration.say("failed: " + cause.lines().findFirst().orElse(""));
    benchmarkCase.failed(iteration, cause);
  }
}
