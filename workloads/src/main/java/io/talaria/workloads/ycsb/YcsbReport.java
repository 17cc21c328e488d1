// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.Quantity;
import io.talaria.workloads.run.SideBySide;
import java.util.Map;

/** The figures of all roads side by side. Used by one thread. */
public final class YcsbReport {
  private final Map<Contender, Map<Phase, PhaseResult>> results;

  /**
   * Makes the report.
   *
   * @param results what was found on each road; on all the same phases
   */
  public YcsbReport(Map<Contender, Map<Phase, PhaseResult>> results) {
    this.results = results;
  }

  /** Returns the table, and whose roads the connections took. */
  public String text() {
    SideBySide table = new SideBySide(results.keySet());
    Map<Phase, PhaseResult> any = results.values().iterator().next();
    any.forEach((phase, result) -> add(table, phase, result));
    StringBuilder text = new StringBuilder(table.text());
    results
        .getOrDefault(Contender.TALARIA, Map.of())
        .forEach(
            (phase, result) ->
                text.append(
                    String.format(
                        "%nConnections on Talaria, %s: %s",
                        phase.label(), result.roads().describe())));
    return text.append(System.lineSeparator()).toString();
  }

  private void add(SideBySide table, Phase phase, PhaseResult any) {
    table.line();
    table.row(
        phase.label() + ", operations",
        Quantity.PER_SECOND,
        contender -> {
          PhaseResult result = results.get(contender).get(phase);
          return result.operations() * 1e9 / result.elapsedNs();
        });
    for (String operation : any.histograms().keySet()) {
      table.times(
          phase.label() + ", " + operation,
          contender -> results.get(contender).get(phase).histograms().get(operation));
    }
  }
}
