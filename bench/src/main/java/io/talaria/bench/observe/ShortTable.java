// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.RunPlan;
import io.talaria.bench.result.Group;
import io.talaria.bench.result.Results;
import io.talaria.bench.result.Row;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a run has measured, as a terminal shows it: the libraries of each case below each other. The
 * report has more figures.
 *
 * @param plan what was to be measured
 * @param results what was
 */
record ShortTable(RunPlan plan, Results results) {
  /** The most rows on a terminal: a user would not read more. */
  private static final int MAX_ROWS = 200;

  private static final String NONE = "";

  /** Returns it as text, with a line break at its end; one line if it were too long. */
  String text() {
    List<Group> groups = Group.of(List.of(results));
    Table table = new Table("Case", "Library", ">messages/s", ">payload MB/s", ">p50", ">p99");
    int rows = 0;
    for (Case measured : cases()) {
      for (LinkImplementation implementation : plan.implementations()) {
        if (plan.cases(implementation).contains(measured)) {
          table.row(cells(measured, implementation, groups));
          rows++;
        }
      }
    }
    return rows > MAX_ROWS
        ? "table       " + rows + " rows, which are in the report\n"
        : table.render();
  }

  private Set<Case> cases() {
    Set<Case> all = new LinkedHashSet<>();
    plan.implementations().forEach(implementation -> all.addAll(plan.cases(implementation)));
    return all;
  }

  private static String[] cells(
      Case measured, LinkImplementation implementation, List<Group> groups) {
    List<String> cells = new ArrayList<>(List.of(measured.describe(), implementation.label()));
    Group group =
        groups.stream()
            .filter(one -> one.measured().equals(measured))
            .filter(one -> one.label().equals(implementation.label()))
            .findFirst()
            .orElse(null);
    if (group == null) {
      cells.addAll(List.of(Comparison.FAILED, NONE, NONE, NONE));
    } else {
      boolean times = group.rows().stream().allMatch(row -> row.times() != null);
      cells.add(Units.rate(group.statistics(Row::messagesPerSecond).mean()));
      cells.add(Units.figure(group.statistics(Row::megabytesPerSecond).mean()));
      cells.add(times ? Units.time(group.percentile(50).mean()) : NONE);
      cells.add(times ? Units.time(group.percentile(99).mean()) : NONE);
    }
    return cells.toArray(String[]::new);
  }
}
