// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** All that has been measured so far. Not for use by several threads. */
final class UcxResults {
  /**
   * What one round has measured of a case, in nanoseconds or operations a second.
   *
   * @param talaria the median of JMH's iterations
   * @param iterations JMH's iterations
   * @param before ucx_perftest just before; NaN if it was not run
   * @param after ucx_perftest just after; NaN if it was not run
   */
  record Round(double talaria, List<Double> iterations, double before, double after) {
    /** Returns what ucx_perftest measured, before and after together. */
    double baseline() {
      return (before + after) / 2;
    }

    /** Returns how many times as long, or as many, Talaria's figure is. */
    double ratio() {
      return talaria / baseline();
    }

    /** Returns how far the two runs of ucx_perftest lie apart: 1 if not at all. */
    double unrest() {
      return Math.max(before, after) / Math.min(before, after);
    }
  }

  /**
   * The rounds of a case in one.
   *
   * @param what the case
   * @param talaria Talaria's figures
   * @param baseline ucx_perftest's figures, or null
   * @param ratio the ratios of the rounds, or null
   * @param target what their median must be, or null if nothing is asked
   */
  record Row(Case what, Spread talaria, Spread baseline, Spread ratio, Target target) {}

  private final Map<Case, List<Round>> rounds = new LinkedHashMap<>();

  void add(Case what, Round round) {
    rounds.computeIfAbsent(what, unknown -> new ArrayList<>()).add(round);
  }

  /** Returns the rounds of each case. */
  Map<Case, List<Round>> rounds() {
    return rounds;
  }

  /** Returns a row for each case. */
  List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    rounds.forEach((what, of) -> rows.add(row(what, of)));
    return rows;
  }

  private static Row row(Case what, List<Round> rounds) {
    Spread ratio = spread(rounds, Round::ratio);
    return new Row(
        what,
        spread(rounds, round -> what.shown(round.talaria())),
        spread(rounds, round -> what.shown(round.baseline())),
        ratio,
        ratio == null ? null : what.target(ratio.median()));
  }

  private static Spread spread(List<Round> rounds, ToDoubleFunction<Round> figure) {
    List<Double> values =
        rounds.stream().map(figure::applyAsDouble).filter(value -> !Double.isNaN(value)).toList();
    return values.isEmpty() ? null : Spread.of(values);
  }
}
