// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Latencies;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** Cases of one contender in one crew of JVMs, one after the other. Used by one thread. */
final class Heat {
  private final Crew crew;
  private final RunPlan plan;
  private final Contender contender;
  private final int repetition;
  private final Outcome outcome;
  private String doing = "starting";

  Heat(Crew crew, RunPlan plan, Contender contender, int repetition, Outcome outcome) {
    this.crew = crew;
    this.plan = plan;
    this.contender = contender;
    this.repetition = repetition;
    this.outcome = outcome;
  }

  /** Returns what it does, or was doing when it failed. */
  String doing() {
    return doing;
  }

  /**
   * Runs it.
   *
   * @param cases which all need the same crew
   * @param stopped whether to leave off after the case at hand
   */
  void run(List<Case> cases, BooleanSupplier stopped)
      throws HarnessException, InterruptedException {
    Phases phases =
        new Phases(
            crew,
            new Phases.Terms(
                contender.binding(),
                contender.road(),
                plan.largestBytes(),
                plan.threads(),
                plan.transports(),
                false,
                Duration.ofSeconds(plan.limitSeconds())),
            cases.getFirst().pattern() == Pattern.ALL_TO_ALL);
    phases.initialize();
    int connections = 0;
    for (Case measured : cases) {
      if (stopped.getAsBoolean()) {
        return;
      }
      doing = measured.describe();
      outcome.begins(contender, measured, repetition);
      if (measured.connections() != connections) {
        if (connections > 0) {
          phases.cleanUp();
        }
        connections = measured.connections();
        phases.connect(connections, measured.connectionsOfEach());
      }
      outcome.measured(measure(phases, measured));
    }
    phases.cleanUp();
  }

  private Row measure(Phases phases, Case measured) throws HarnessException, InterruptedException {
    int rate = measured.ratePerSecond();
    double perSecond =
        phases.warmUp(measured.pattern(), measured.sizeBytes(), plan.warmUpSeconds(), rate, true);
    return row(
        measured,
        phases.measure(
            perSecond,
            plan.seconds(),
            measured.operations(),
            rate,
            true,
            measured.connectionsOfEach()));
  }

  private Row row(Case measured, Phases.Measured found) {
    Orders.Operated client = found.leaders().getLast();
    long operations = found.operations() * measured.connectionsOfAll();
    return new Row(
        contender,
        measured,
        repetition,
        contender.road().accelerated() ? client.roads().describe() : "",
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
