// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Spread;
import io.talaria.bench.ucx.UcxPeer.Order;
import io.talaria.bench.ucx.UcxResults.Round;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Units;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures all cases, round by round: {@code ucx_perftest}, Talaria, {@code ucx_perftest} again. A
 * virtual machine's cores may move apart and together again, which changes everything by a factor:
 * a round in which the two runs of {@code ucx_perftest} lie too far apart is done again. Used by
 * one thread.
 *
 * @param duo the JVMs
 * @param baseline ucx_perftest, or null
 * @param timing how long JMH measures
 * @param transports {@code UCX_TLS}; empty for UCX's choice
 * @param yields whether there are more threads than cores
 * @param progress where to tell how far it is
 */
record Rounds(
    Duo duo,
    Baseline baseline,
    UcxTiming timing,
    String transports,
    boolean yields,
    PrintWriter progress) {
  private static final int TRIES = 3;
  private static final double UNREST = 1.25;

  /** Measures. */
  UcxResults run(List<Case> cases, int rounds) throws HarnessException, InterruptedException {
    UcxResults results = new UcxResults();
    Map<Case, Double> expected = new HashMap<>();
    int done = 0;
    for (int number = 1; number <= rounds; number++) {
      for (Case what : cases) {
        done++;
        progress.print(
            String.format(
                "[%d/%d] %s, round %d of %d: ",
                done, rounds * cases.size(), what.label(), number, rounds));
        progress.flush();
        Round round;
        try {
          round = round(what, expected);
        } catch (HarnessException e) {
          progress.println("failed");
          throw new HarnessException(what.label() + ": " + e.getMessage(), e);
        }
        results.add(what, round);
        progress.println(headline(what, round));
      }
    }
    return results;
  }

  private Round round(Case what, Map<Case, Double> expected)
      throws HarnessException, InterruptedException {
    Round best = attempt(what, expected);
    for (int i = 1; i < TRIES && best.unrest() > UNREST; i++) {
      progress.print("(restless, again) ");
      progress.flush();
      Round another = attempt(what, expected);
      best = another.unrest() < best.unrest() ? another : best;
    }
    return best;
  }

  private Round attempt(Case what, Map<Case, Double> expected)
      throws HarnessException, InterruptedException {
    final double before = baseline(what, expected);
    List<Double> scores = duo.measure(new Order(what, timing, transports, yields));
    return new Round(Spread.of(scores).median(), scores, before, baseline(what, expected));
  }

  private double baseline(Case what, Map<Case, Double> expected)
      throws HarnessException, InterruptedException {
    if (baseline == null || !what.hasTest()) {
      return Double.NaN;
    }
    double figure = baseline.run(what, expected.getOrDefault(what, what.guess()));
    expected.put(what, figure);
    return figure;
  }

  private static String headline(Case what, Round round) {
    String talaria = what.quantity().format(what.shown(round.talaria()));
    return Double.isNaN(round.ratio())
        ? talaria
        : talaria
            + ", ucx_perftest "
            + what.quantity().format(what.shown(round.baseline()))
            + ", ratio "
            + Units.times(round.ratio());
  }
}
