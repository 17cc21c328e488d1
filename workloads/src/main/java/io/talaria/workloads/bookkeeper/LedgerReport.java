// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.Latencies;
import io.talaria.cli.harness.Machine;
import io.talaria.cli.harness.Quantity;
import io.talaria.cli.harness.Units;
import io.talaria.workloads.bookkeeper.LedgerResult.Measure;
import io.talaria.workloads.run.Comparison;
import java.util.List;
import java.util.Map;

/** The figures of all roads side by side. */
final class LedgerReport {
  private LedgerReport() {}

  static String text(Machine machine, Map<Contender, LedgerResult> results) {
    Comparison comparison = new Comparison(List.copyOf(results.keySet()));
    results.forEach(
        (contender, result) ->
            result.measures().forEach(measure -> add(comparison, contender, measure)));
    LedgerResult talaria = results.get(Contender.TALARIA);
    return comparison.text(machine)
        + (talaria == null
            ? ""
            : String.format("%nConnections on Talaria: %s%n", talaria.roads().describe()));
  }

  private static void add(Comparison comparison, Contender contender, Measure measure) {
    String id = measure.operation() + "/" + measure.sizeBytes();
    String label = measure.operation() + ", " + Units.bytes(measure.sizeBytes());
    comparison.add(
        id + "/rate",
        label + ", entries",
        Quantity.PER_SECOND,
        contender,
        measure.entries() * 1e9 / measure.elapsedNs());
    comparison.addTimes(id, label, contender, Latencies.decode(measure.histogram()));
  }
}
