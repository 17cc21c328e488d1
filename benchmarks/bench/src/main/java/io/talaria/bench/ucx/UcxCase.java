// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.compare.BenchmarkCase;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iteration;
import io.talaria.bench.engine.Phases;
import io.talaria.bench.harness.Implementation;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;

/**
 * A case as the engine runs it: {@code ucx_perftest}, Talaria, {@code ucx_perftest} again. A
 * virtual machine's cores may move apart and together again, which changes everything by a factor:
 * an iteration in which the two runs of {@code ucx_perftest} lie too far apart is done again. Used
 * by one thread.
 */
final class UcxCase implements BenchmarkCase {
  private static final int TRIES = 3;
  private static final double UNREST = 1.25;

  /** The median of several tells more than one that is as long as all. */
  private static final int ITERATIONS = 5;

  private final Case what;
  private final UcxRun run;
  private double expected;

  /** Why ucx_perftest gave no figure in this attempt, or null. */
  private String missing;

  /**
   * Creates the case.
   *
   * @param what the case
   * @param run how it is measured
   */
  UcxCase(Case what, UcxRun run) {
    this.what = what;
    this.run = run;
    expected = what.guess();
  }

  @Override
  public String label() {
    return what.label();
  }

  @Override
  public double expectedMs() {
    return run.timing().expectedMs() + 1e3 * run.timing().seconds();
  }

  @Override
  public void measure(Iteration iteration) throws HarnessException, InterruptedException {
    iteration.step(label(), expectedMs());
    UcxAttempt best = attempt();
    for (int i = 1; i < TRIES && best.unrest() > UNREST; i++) {
      iteration.say(best.missing() == null ? "restless, again" : best.missing() + "; again");
      UcxAttempt another = attempt();
      best = another.unrest() < best.unrest() ? another : best;
    }
    add(best, iteration.found());
    if (best.missing() != null) {
      iteration
          .found()
          .addMissing(iteration.missing(label(), Implementation.UCX_IN_C, best.missing()));
    }
    iteration.say(headline(best));
  }

  private UcxAttempt attempt() throws HarnessException, InterruptedException {
    return run.with(what.operation().kind(), what.sizeBytes(), this::attempt);
  }

  private UcxAttempt attempt(Phases phases) throws HarnessException, InterruptedException {
    phases.initialize();
    missing = null;
    final Double before = perftest(phases);
    phases.connect(what.threads(), what.threads());
    double perSecond =
        phases.warmUp(what.pattern(), what.sizeBytes(), run.timing().warmUpSeconds(), 0, false);
    List<Double> iterations = new ArrayList<>();
    boolean rested = true;
    for (int i = 0; i < ITERATIONS; i++) {
      double seconds = run.timing().seconds() / ITERATIONS;
      Phases.Measured measured =
          phases.measure(perSecond, seconds, Long.MAX_VALUE, 0, false, what.threads());
      iterations.add(what.figure(measured.operations(), measured.elapsedNs()));
      rested &= measured.rested();
    }
    phases.cleanUp();
    Double after = perftest(phases);
    return UcxAttempt.of(iterations, before, after, missing, rested);
  }

  private Double perftest(Phases phases) throws HarnessException, InterruptedException {
    if (run.perftest() == null || !what.hasTest()) {
      return null;
    }
    int port = phases.startPerftest();
    try {
      expected = run.perftest(port, what, expected);
      return expected;
    } catch (HarnessException e) {
      // A host that is too busy for it is no reason to lose what Talaria does there.
      missing = e.getMessage();
      return null;
    }
  }

  private void add(UcxAttempt attempt, Comparison found) {
    String id = what.id();
    double talaria = what.shown(attempt.talaria());
    double ucx = what.shown(attempt.baseline());
    found.add(id, label(), what.quantity(), Implementation.TALARIA, talaria);
    found.add(id, label(), what.quantity(), Implementation.UCX_IN_C, ucx);
    found.addRun(id, label(), Implementation.TALARIA, attempt.rested(), attempt);
  }

  /** Says what Talaria had to reach in all iterations together, if anything is asked. */
  void judge(Comparison found) {
    double times = found.timesUcx(what.id());
    if (!Double.isNaN(times)) {
      found.judge(what.id(), what.target(times));
    }
  }

  private String headline(UcxAttempt attempt) {
    String talaria = what.quantity().format(what.shown(attempt.talaria()));
    return Double.isNaN(attempt.ratio())
        ? talaria
        : talaria
            + ", ucx_perftest "
            + what.quantity().format(what.shown(attempt.baseline()))
            + ", ratio "
            + Units.times(attempt.ratio());
  }
}
