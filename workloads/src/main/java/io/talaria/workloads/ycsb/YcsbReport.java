// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.Latencies;
import io.talaria.cli.harness.Machine;
import io.talaria.cli.harness.Quantity;
import io.talaria.workloads.run.Comparison;
import java.util.List;
import java.util.Map;

/** The figures of all roads side by side. */
public final class YcsbReport {
  private YcsbReport() {}

  /**
   * Returns the report as text.
   *
   * @param machine the conditions
   * @param results what was found on each road; on all the same phases
   */
  public static String text(Machine machine, Map<Contender, Map<Phase, PhaseResult>> results) {
    Comparison comparison = new Comparison(List.copyOf(results.keySet()));
    StringBuilder roads = new StringBuilder();
    results.forEach(
        (contender, phases) ->
            phases.forEach(
                (phase, result) -> {
                  add(comparison, contender, phase.label(), result);
                  if (contender == Contender.TALARIA) {
                    roads.append(
                        String.format(
                            "Connections on Talaria, %s: %s%n",
                            phase.label(), result.roads().describe()));
                  }
                }));
    return comparison.text(machine) + (roads.isEmpty() ? "" : System.lineSeparator() + roads);
  }

  private static void add(
      Comparison comparison, Contender contender, String phase, PhaseResult result) {
    comparison.add(
        phase + "/rate",
        phase + ", operations",
        Quantity.PER_SECOND,
        contender,
        result.operations() * 1e9 / result.elapsedNs());
    result
        .histograms()
        .forEach(
            (operation, histogram) ->
                comparison.addTimes(
                    phase + "/" + operation,
                    phase + ", " + operation,
                    contender,
                    Latencies.decode(histogram)));
  }
}
