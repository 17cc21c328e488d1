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
import java.util.concurrent.CountDownLatch;

/**
 * The engine: measures all cases, iteration by iteration, by each implementation in turn, so that
 * all have the same share of what the machine does meanwhile.
 *
 * @param iterations how many iterations there are
 * @param busy how many busy processes run beside the benchmark
 * @param progress where to show what is done, in the form that suits this process
 */
public record Iterations(int iterations, int busy, PrintWriter progress) {
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
          CoreDistance.measure().ifPresent(distances::add);
          for (Implementation implementation : implementations) {
            found.begin(benchmarkCase.label(), i);
            measure(benchmarkCase, new Iteration(i, own, implementation, found, shown), beside);
          }
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
