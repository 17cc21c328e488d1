// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.compare.Bout;
import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Round;
import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.ucx.UcxPeer.Order;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Units;
import java.util.List;

/**
 * A case as the engine runs it: {@code ucx_perftest}, Talaria, {@code ucx_perftest} again. A
 * virtual machine's cores may move apart and together again, which changes everything by a factor:
 * a round in which the two runs of {@code ucx_perftest} lie too far apart is done again. Used by
 * one thread.
 */
final class UcxBout implements Bout {
  private static final int TRIES = 3;
  private static final double UNREST = 1.25;
  private static final double MS = 1e3;

  private final Case what;
  private final Duo duo;
  private final Baseline baseline;
  private final Order order;
  private double expected;

  /**
   * Creates the bout.
   *
   * @param duo the JVMs
   * @param baseline ucx_perftest, or null
   * @param order the case, and how it is measured
   */
  UcxBout(Duo duo, Baseline baseline, Order order) {
    this.what = order.what();
    this.duo = duo;
    this.baseline = baseline;
    this.order = order;
    expected = what.guess();
  }

  @Override
  public String label() {
    return what.label();
  }

  @Override
  public double expectedMs() {
    return START_MS + 2 * order.timing().seconds() * MS;
  }

  @Override
  public void measure(Round round) throws HarnessException, InterruptedException {
    round.step(label(), expectedMs());
    UcxAttempt best = attempt();
    for (int i = 1; i < TRIES && best.unrest() > UNREST; i++) {
      round.say("restless, again");
      UcxAttempt another = attempt();
      best = another.unrest() < best.unrest() ? another : best;
    }
    add(best, round.found());
    round.say(headline(best));
  }

  private UcxAttempt attempt() throws HarnessException, InterruptedException {
    final Double before = baseline();
    List<Double> scores = duo.measure(order);
    return new UcxAttempt(Spread.of(scores).median(), scores, before, baseline());
  }

  private Double baseline() throws HarnessException, InterruptedException {
    if (baseline == null || !what.hasTest()) {
      return null;
    }
    expected = baseline.run(what, expected);
    return expected;
  }

  private void add(UcxAttempt attempt, Comparison found) {
    String id = what.id();
    double talaria = what.shown(attempt.talaria());
    double ucx = what.shown(attempt.baseline());
    found.add(id, label(), what.quantity(), Contender.TALARIA, talaria);
    found.add(id, label(), what.quantity(), Contender.UCX_IN_C, ucx);
    found.addRun(id, label(), Contender.TALARIA, true, attempt);
  }

  /** Says what Talaria had to reach in all rounds together, if anything is asked. */
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
