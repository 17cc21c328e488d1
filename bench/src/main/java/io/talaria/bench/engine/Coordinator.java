// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.Contender;
import io.talaria.bench.plan.RunPlan;
import io.talaria.cli.harness.HarnessException;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Runs a plan: all contenders in turn, as often as it says, each time with new JVMs. */
public final class Coordinator {
  private final RunPlan plan;
  private final Fleet fleet;

  /**
   * Creates the coordinator.
   *
   * @param plan what to run
   * @param fleet by which JVMs; whoever calls closes it
   */
  public Coordinator(RunPlan plan, Fleet fleet) {
    this.plan = plan;
    this.fleet = fleet;
  }

  /**
   * Runs it. A contender that fails is given up for this repetition; the others go on.
   *
   * @param outcome told of each case
   * @param stopped whether to leave off after the case at hand
   * @return whether all could be measured
   * @throws InterruptedException if interrupted
   */
  public boolean run(Outcome outcome, BooleanSupplier stopped) throws InterruptedException {
    boolean all = true;
    for (int repetition = 1; repetition <= plan.repetitions(); repetition++) {
      for (Contender contender : plan.contenders()) {
        for (List<Case> cases : plan.heats(contender)) {
          if (stopped.getAsBoolean()) {
            return all;
          }
          all &= run(contender, cases, repetition, outcome, stopped);
        }
      }
    }
    return all;
  }

  private boolean run(
      Contender contender,
      List<Case> cases,
      int repetition,
      Outcome outcome,
      BooleanSupplier stopped)
      throws InterruptedException {
    try (Crew crew = fleet.crew(cases.getFirst().processes())) {
      Heat heat = new Heat(crew, plan, contender, repetition, outcome);
      try {
        crew.start(contender.road());
        heat.run(cases, stopped);
        return true;
      } catch (HarnessException e) {
        outcome.failed(contender, heat.doing(), e.getMessage());
        return false;
      }
    }
  }
}
