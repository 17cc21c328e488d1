// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Units;

/**
 * A scenario as the engine runs it. Used by one thread.
 *
 * @param scenario what
 * @param runner runs it in two JVMs
 * @param ucx does the same in C
 */
record ScenarioCase(Scenario scenario, ScenarioRunner runner, UcxBaseline ucx)
    implements BenchmarkCase {
  @Override
  public String label() {
    return scenario.label();
  }

  @Override
  public double expectedMs() {
    return runner.timing().expectedMs();
  }

  /** The allocation is the same every time. */
  @Override
  public int iterations(int wanted) {
    return scenario.pattern() == Pattern.ALLOC ? 1 : wanted;
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    if (iteration.implementation() == Implementation.UCX_IN_C) {
      measureUcx(iteration);
      return;
    }
    iteration.step(label(), expectedMs());
    ScenarioRun run = runner.run(scenario, iteration.implementation());
    new ScenarioFigures(run, iteration.implementation(), iteration.found()).add();
    iteration.say(headline(run));
  }

  /** What it has no test for has no figure. */
  private void measureUcx(Iteration iteration) throws InterruptedException {
    boolean oneway = scenario.pattern() == Pattern.ONEWAY;
    try {
      iteration
          .found()
          .add(
              scenario.id() + (oneway ? "" : "/p50"),
              label(),
              oneway ? ScenarioFigures.quantity(scenario) : Quantity.TIME,
              Implementation.UCX_IN_C,
              ucx.measure(scenario));
    } catch (HarnessException e) {
      iteration.say("no figure of UCX in this iteration: " + e.getMessage());
      iteration.found().addMissing(iteration.missing(label(), e.getMessage()));
    }
  }

  private static String headline(ScenarioRun run) {
    String figure =
        switch (run.scenario().pattern()) {
          case ONEWAY ->
              Units.rate(run.value(Measured.MESSAGES_PER_SECOND))
                  + ", "
                  + Units.figure(run.value(Measured.GIGABYTES_PER_SECOND))
                  + " GB/s";
          case SCALE ->
              "set up in "
                  + Units.time(run.value(Measured.SET_UP_NS))
                  + ", p50 "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP_ONE))
                  + " and "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP_ONE_AGAIN))
                  + " alone, "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP))
                  + " among idle ones";
          case IDLE -> Units.figure(run.value(Measured.IDLE_CPU)) + " % of a core";
          case ALLOC ->
              "client "
                  + bytes(run.value(Measured.CLIENT_ALLOCATED))
                  + ", server "
                  + bytes(run.value(Measured.SERVER_ALLOCATED));
          case COLD ->
              Units.rate(run.value(Measured.TRIPS_PER_SECOND))
                  + " in the first second, "
                  + Units.time(run.value(Measured.START_TO_ECHOES_NS))
                  + " from start to 10,000 echoes";
          default ->
              "p50 "
                  + Units.time(run.medianNs(Measured.ROUND_TRIP))
                  + ", "
                  + Units.rate(run.value(Measured.TRIPS_PER_SECOND));
        };
    double tcpBytes = run.value(Measured.TCP_BYTES);
    return tcpBytes > 0
        ? figure + " (WARNING: " + Units.bytes(tcpBytes) + " went over TCP while measured)"
        : figure;
  }

  private static String bytes(double value) {
    return Double.isNaN(value) ? "too few round trips" : Units.figure(value) + " B";
  }
}
