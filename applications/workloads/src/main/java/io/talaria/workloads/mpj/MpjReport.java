// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Spread;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;

/**
 * What {@code bench mpj} has found as people read it: for each pattern a table with a column for
 * each implementation, the ratios with their targets, who is missing and why.
 *
 * @param machine the conditions
 * @param found what was found
 * @param cases what was measured
 * @param implementations the implementations that the user asked for
 * @param absent who of them is not here, and why
 * @param targets the ratios
 */
record MpjReport(
    Machine machine,
    Comparison found,
    List<MpjCase> cases,
    List<MpjImplementation> implementations,
    Map<MpjImplementation, String> absent,
    MpjTargets targets) {

  String text() {
    StringBuilder out = new StringBuilder();
    machine.lines().forEach(line -> out.append(line).append('\n'));
    found.notes().forEach(line -> out.append(line).append('\n'));
    for (MpjCase benchmarkCase : cases) {
      out.append('\n')
          .append(heading(benchmarkCase))
          .append('\n')
          .append(table(benchmarkCase).render());
    }
    ratios(out);
    out.append('\n');
    for (MpjImplementation implementation : implementations) {
      out.append(implementation).append(": ").append(implementation.description()).append('\n');
    }
    absent.forEach(
        (who, why) -> out.append("without ").append(who).append(": ").append(why).append('\n'));
    return out.toString();
  }

  private static String heading(MpjCase benchmarkCase) {
    MpjPattern pattern = benchmarkCase.job().pattern();
    return benchmarkCase.label()
        + ", "
        + pattern.unit()
        + (pattern.more() ? " (more" : " (less")
        + " is better)";
  }

  /** Medians, and below them the range where there is one. */
  private Table table(MpjCase benchmarkCase) {
    List<String> header = new ArrayList<>(List.of("bytes"));
    implementations.forEach(implementation -> header.add(">" + implementation));
    Table table = new Table(header.toArray(String[]::new));
    MpjPattern pattern = benchmarkCase.job().pattern();
    for (int bytes : benchmarkCase.job().sizes()) {
      List<String> medians = new ArrayList<>(List.of(bytes == 0 ? "" : Units.bytes(bytes)));
      List<String> ranges = new ArrayList<>(List.of(""));
      boolean several = false;
      for (MpjImplementation implementation : implementations) {
        Spread spread = found.spread(benchmarkCase.id(bytes), implementation);
        medians.add(
            found.cell(
                benchmarkCase.id(bytes),
                benchmarkCase.label(),
                implementation,
                all -> figure(pattern, all.median())));
        boolean range = spread != null && spread.iterations() > 1;
        ranges.add(
            range ? figure(pattern, spread.min()) + "–" + figure(pattern, spread.max()) : "");
        several |= range;
      }
      table.row(medians.toArray(String[]::new));
      if (several) {
        table.row(ranges.toArray(String[]::new));
      }
      addMedians(benchmarkCase.fastestId(bytes), "  fastest block", pattern::shown, table);
    }
    addMedians(benchmarkCase.communicationId(), "messages, %", figure -> figure, table);
    return table;
  }

  /** Adds a row of medians if any implementation has the measure. */
  private void addMedians(String id, String label, DoubleUnaryOperator shown, Table table) {
    List<String> row = new ArrayList<>(List.of(label));
    for (MpjImplementation implementation : implementations) {
      Spread spread = found.spread(id, implementation);
      row.add(spread == null ? "" : Units.figure(shown.applyAsDouble(spread.median())));
    }
    if (row.stream().skip(1).anyMatch(word -> !word.isEmpty())) {
      table.row(row.toArray(String[]::new));
    }
  }

  private static String figure(MpjPattern pattern, double value) {
    return Units.figure(pattern.shown(value));
  }

  private void ratios(StringBuilder out) {
    Table table = new Table("ours : theirs", "", "", ">ratio", ">range", "must", "");
    for (MpjTargets.Judged one : targets.judged()) {
      Spread ratio = one.ratio();
      table.row(
          one.label(),
          one.ours().toString(),
          one.theirs().toString(),
          Units.figure(ratio.median()),
          ratio.iterations() > 1 ? Units.figure(ratio.min()) + "–" + Units.figure(ratio.max()) : "",
          one.target() == null ? "" : one.target().wanted(),
          one.target() == null ? "" : one.target().mark());
    }
    if (!table.isEmpty()) {
      out.append('\n').append(table.render());
    }
    long judged = found.judged();
    if (judged > 0) {
      out.append('\n').append(judged - found.missed());
      out.append(" of ").append(judged).append(" targets met\n");
    }
  }
}
