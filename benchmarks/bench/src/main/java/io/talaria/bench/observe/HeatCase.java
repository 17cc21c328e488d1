// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.engine.Orders;
import io.talaria.bench.engine.Phases;
import io.talaria.bench.engine.WorkerGroup;
import io.talaria.bench.engine.WorkerPool;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * All cases of a heat, which each implementation measures by one worker group of JVMs. An
 * implementation that fails is given up for this iteration; the others continue. Used by one
 * thread.
 *
 * @param plan the plan
 * @param heat which cases
 * @param workerPool by which JVMs
 * @param outcome told what becomes of each case
 */
record HeatCase(RunPlan plan, RunPlan.Heat heat, WorkerPool workerPool, Outcome outcome)
    implements BenchmarkCase {
  /** Returns all heats of a plan. */
  static List<BenchmarkCase> of(RunPlan plan, WorkerPool workerPool, Outcome outcome) {
    return plan.heats().stream()
        .<BenchmarkCase>map(heat -> new HeatCase(plan, heat, workerPool, outcome))
        .toList();
  }

  @Override
  public String label() {
    return heat.describe();
  }

  /** The mean of all implementations: not all can do everything. */
  @Override
  public double expectedMs() {
    return Schedule.heatMs(plan, heat) / plan.implementations().size();
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    LinkImplementation implementation = (LinkImplementation) iteration.implementation();
    List<Case> cases = plan.cases(implementation, heat);
    if (cases.isEmpty() || outcome.stopped()) {
      return;
    }
    String doing = "starting";
    try (WorkerGroup workerGroup = workerPool.workerGroup(heat.processes())) {
      workerGroup.start(implementation.transport());
      Phases phases = new Phases(workerGroup, terms(implementation), heat.allToAll());
      phases.initialize();
      int connections = 0;
      for (Case measured : cases) {
        if (outcome.stopped()) {
          return;
        }
        doing = measured.describe();
        iteration.step(doing, Schedule.caseMs(plan));
        outcome.begins(iteration);
        if (measured.connections() != connections) {
          if (connections > 0) {
            phases.cleanUp();
          }
          connections = measured.connections();
          phases.connect(connections, measured.connectionsOfEach());
        }
        measure(phases, measured, iteration);
      }
      phases.cleanUp();
    } catch (HarnessException e) {
      throw new HarnessException(doing + ": " + e.getMessage(), e);
    }
    outcome.pauses();
  }

  @Override
  public void failed(Iteration iteration, String cause) {
    outcome.failed(iteration, label(), cause);
  }

  private Phases.Terms terms(LinkImplementation implementation) {
    return new Phases.Terms(
        implementation.binding(),
        implementation.transport(),
        plan.maxBytes(),
        plan.threads(),
        plan.ucxTransports(),
        false,
        Duration.ofSeconds(plan.limitSeconds()));
  }

  private void measure(Phases phases, Case measured, Iteration iteration)
      throws HarnessException, InterruptedException {
    int rate = measured.ratePerSecond();
    double perSecond =
        phases.warmUp(measured.pattern(), measured.sizeBytes(), plan.warmUpSeconds(), rate, true);
    Phases.Measured found =
        phases.measure(
            perSecond,
            plan.seconds(),
            measured.operations(),
            rate,
            true,
            measured.connectionsOfEach());
    outcome.measured(row(measured, iteration, found), found.rested());
  }

  private static Row row(Case measured, Iteration iteration, Phases.Measured found) {
    Orders.Operated client = found.leaders().getLast();
    long operations = found.operations() * measured.connectionsOfAll();
    LinkImplementation implementation = (LinkImplementation) iteration.implementation();
    return new Row(
        implementation,
        measured,
        iteration.number(),
        implementation.onTalaria() ? client.transports().describe() : "",
        operations,
        measured.pattern().messages() * operations,
        found.leaders().stream().map(Orders.Operated::elapsedNs).toList(),
        decode(client.sinceBegun()),
        decode(client.sinceDue()),
        client.wireBytes(),
        client.infinibandBytes());
  }

  private static Histogram decode(String text) {
    return text == null ? null : Latencies.decode(text);
  }
}
