// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.Quantity;
import io.talaria.cli.harness.Units;
import io.talaria.workloads.bookkeeper.LedgerResult.Measure;
import io.talaria.workloads.run.SideBySide;
import java.util.List;
import java.util.Map;

/**
 * The figures of all roads side by side.
 *
 * @param results what was found on each road, in the same order everywhere
 */
record LedgerReport(Map<Contender, LedgerResult> results) {
  String text() {
    SideBySide table = new SideBySide(results.keySet());
    List<Measure> any = results.values().iterator().next().measures();
    for (int i = 0; i < any.size(); i++) {
      add(table, i, any.get(i).operation() + ", " + Units.bytes(any.get(i).sizeBytes()));
    }
    LedgerResult talaria = results.get(Contender.TALARIA);
    return table.text()
        + (talaria == null
            ? ""
            : String.format("%nConnections on Talaria: %s%n", talaria.roads().describe()));
  }

  private void add(SideBySide table, int index, String label) {
    table.line();
    table.row(
        label + ", entries",
        Quantity.PER_SECOND,
        contender -> {
          Measure measure = measure(contender, index);
          return measure.entries() * 1e9 / measure.elapsedNs();
        });
    table.times(label, contender -> measure(contender, index).histogram());
  }

  private Measure measure(Contender contender, int index) {
    return results.get(contender).measures().get(index);
  }
}
