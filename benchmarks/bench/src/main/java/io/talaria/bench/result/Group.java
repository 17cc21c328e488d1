// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.bench.plan.Case;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * All repetitions of an implementation's case in a run.
 *
 * @param label the implementation, and the run if there are several
 * @param measured the case
 * @param rows one for each repetition that was measured
 */
public record Group(String label, Case measured, List<Row> rows) {
  /** Copies the rows. */
  public Group {
    rows = List.copyOf(rows);
  }

  /**
   * Groups the rows of runs, in the order in which their groups first appear.
   *
   * @param runs the runs
   */
  public static List<Group> of(List<Results> runs) {
    record Key(String label, Case measured) {}
    Map<Key, List<Row>> groups = new LinkedHashMap<>();
    for (int i = 0; i < runs.size(); i++) {
      String of = runs.size() == 1 ? "" : ", run " + (i + 1);
      for (Row row : runs.get(i).rows()) {
        groups
            .computeIfAbsent(
                new Key(row.implementation().label() + of, row.measured()),
                key -> new ArrayList<>())
            .add(row);
      }
    }
    List<Group> all = new ArrayList<>();
    groups.forEach((key, list) -> all.add(new Group(key.label(), key.measured(), list)));
    return all;
  }

  /**
   * Returns the statistics of a figure.
   *
   * @param figure takes it from a row
   */
  public Statistics statistics(ToDoubleFunction<Row> figure) {
    return Statistics.of(rows.stream().map(row -> figure.applyAsDouble(row)).toList());
  }

  /**
   * Returns the statistics of a percentile of the times that count, in nanoseconds.
   *
   * @param percentile 0 to 100
   */
  public Statistics percentile(double percentile) {
    return statistics(row -> (double) row.times().getValueAtPercentile(percentile));
  }

  /** Returns all times of all repetitions; null if none were taken. */
  public Histogram times() {
    Histogram sum = null;
    for (Row row : rows) {
      if (sum == null) {
        sum = row.times() == null ? null : row.times().copy();
      } else {
        sum.add(row.times());
      }
    }
    return sum;
  }
}
