// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.engine;

import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Latencies;
import io.talaria.cli.harness.ModeProbe;
import io.talaria.observatory.link.Binding;
import io.talaria.observatory.plan.Case;
import io.talaria.observatory.plan.Contender;
import io.talaria.observatory.plan.Pattern;
import io.talaria.observatory.plan.RunPlan;
import io.talaria.observatory.result.Row;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/** All cases of one contender in one pair of JVMs, phase by phase. Used by one thread. */
final class Heat {
  /** Operations of the first round of warming up. */
  private static final long FIRST_OPERATIONS = 50;

  /** How long a round of warming up shall take. */
  private static final double ROUND_SECONDS = 0.1;

  private static final long LEAST_OPERATIONS = 10;

  private final Duo duo;
  private final RunPlan plan;
  private final Contender contender;
  private final int repetition;
  private final Outcome outcome;
  private final Duration limit;
  private String doing = "starting";

  Heat(Duo duo, RunPlan plan, Contender contender, int repetition, Outcome outcome) {
    this.duo = duo;
    this.plan = plan;
    this.contender = contender;
    this.repetition = repetition;
    this.outcome = outcome;
    limit = Duration.ofSeconds(plan.limitSeconds());
  }

  /** Returns what it does, or was doing when it failed. */
  String doing() {
    return doing;
  }

  void run(List<Case> cases, IntFunction<Binding.Setup> setups, BooleanSupplier stopped)
      throws HarnessException, InterruptedException {
    initialize();
    int connections = 0;
    for (Case measured : cases) {
      if (stopped.getAsBoolean()) {
        return;
      }
      doing = measured.describe();
      outcome.begins(contender, measured, repetition);
      if (measured.connections() != connections) {
        if (connections > 0) {
          cleanUp();
        }
        connections = measured.connections();
        connect(setups.apply(connections));
      }
      outcome.measured(measure(measured));
    }
    cleanUp();
  }

  private void initialize() throws HarnessException, InterruptedException {
    Duo.Both<Orders.Initialized> both =
        duo.both(
            Orders.Phase.INITIALIZE,
            new Orders.Initialize(contender.binding(), false),
            new Orders.Initialize(contender.binding(), true),
            Orders.Initialized.class,
            limit);
    boolean wanted = contender.road().accelerated();
    if (both.server().talaria() != wanted || both.client().talaria() != wanted) {
      throw new HarnessException(
          wanted
              ? "the agent did not switch Talaria on"
              : "Talaria is switched on where plain sockets are to be measured");
    }
  }

  private void connect(Binding.Setup setup) throws HarnessException, InterruptedException {
    Orders.Lines offers =
        duo.server(Orders.Phase.OFFER, new Orders.Offer(setup), Orders.Lines.class, limit);
    Orders.Lines answers =
        duo.client(
            Orders.Phase.ANSWER, new Orders.Meet(setup, offers.lines()), Orders.Lines.class, limit);
    duo.server(
        Orders.Phase.ACCEPT, new Orders.Meet(setup, answers.lines()), Orders.Nothing.class, limit);
  }

  private void cleanUp() throws HarnessException, InterruptedException {
    both(Orders.Phase.CLEAN_UP, Orders.Nothing.INSTANCE);
  }

  private void both(Orders.Phase phase, Object body) throws HarnessException, InterruptedException {
    duo.both(phase, body, body, Orders.Nothing.class, limit);
  }

  private Row measure(Case measured) throws HarnessException, InterruptedException {
    both(
        Orders.Phase.PREPARE,
        new Orders.Prepare(measured.pattern(), measured.sizeBytes(), plan.warmUpSeconds()));
    double perSecond = warmUp(measured.ratePerSecond());
    long affordable = Math.max(LEAST_OPERATIONS, (long) (perSecond * plan.seconds()));
    long operations = Math.min(measured.operations(), affordable);
    Duration mostOf = limit.plusMillis((long) (2_000 * operations / perSecond));
    Orders.Operated client =
        duo.operate(new Orders.Operate(operations, measured.ratePerSecond(), true), mostOf)
            .client();
    requireAccelerated(client.roads(), measured.connections());
    return row(measured, operations * measured.connections(), client);
  }

  /** Warms up until both sides are warm; returns how many operations a second there were. */
  private double warmUp(int ratePerSecond) throws HarnessException, InterruptedException {
    long operations =
        ratePerSecond == 0
            ? FIRST_OPERATIONS
            : Math.clamp((long) (ratePerSecond * ROUND_SECONDS), 1, FIRST_OPERATIONS);
    while (true) {
      Duo.Both<Orders.Operated> done =
          duo.operate(new Orders.Operate(operations, ratePerSecond, false), limit);
      double perSecond = operations * 1e9 / Math.max(1, done.client().elapsedNs());
      if (done.server().warm() && done.client().warm()) {
        return perSecond;
      }
      operations = Math.max(1, Math.min(4 * operations, (long) (perSecond * ROUND_SECONDS)));
    }
  }

  private void requireAccelerated(ModeProbe.Roads roads, int connections) throws HarnessException {
    if (contender.road().accelerated() && roads.accelerated() < connections) {
      throw new HarnessException(
          "NOT ACCELERATED: of "
              + connections
              + " connections "
              + roads.accelerated()
              + " are on a fabric: "
              + roads.describe());
    }
  }

  private Row row(Case measured, long operations, Orders.Operated client) {
    boolean twoWays =
        measured.pattern() == Pattern.BIDIRECTIONAL || measured.pattern() == Pattern.PINGPONG;
    return new Row(
        contender,
        measured,
        repetition,
        contender.road().accelerated() ? client.roads().describe() : "",
        operations,
        twoWays ? 2 * operations : operations,
        client.elapsedNs(),
        decode(client.sinceBegun()),
        decode(client.sinceDue()),
        client.wireBytes(),
        client.infinibandBytes());
  }

  private static Histogram decode(String text) {
    return text == null ? null : Latencies.decode(text);
  }
}
