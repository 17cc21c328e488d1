// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.Table;
import io.talaria.monitor.Change;
import io.talaria.monitor.Counter;
import io.talaria.monitor.Reading;
import java.util.List;
import java.util.Locale;

/** All counters of ports, one below the other. */
final class CounterTable {
  private CounterTable() {}

  /** In lines each ended by a line feed; empty if there are no counters. */
  static String render(List<PortLine> lines, boolean rates) {
    Table table =
        rates
            ? new Table("port", "counter", "source", "kind", ">value", "unit", ">in a second", "")
            : new Table("port", "counter", "source", "kind", ">value", "unit", "");
    for (PortLine line : lines) {
      Reading reading = line.reading();
      for (int i = 0; reading != null && i < reading.counters().size(); i++) {
        Counter counter = reading.counters().get(i);
        String value = reading.known(i) ? String.format(Locale.ROOT, "%,d", reading.total(i)) : "-";
        String port = line.port().id().toString();
        String kind = counter.kind().code();
        String unit = counter.unit().code();
        String state = state(line, i);
        if (rates) {
          String rate = Figures.count(line.rates().perSecond(i));
          table.row(port, counter.name(), counter.source().code(), kind, value, unit, rate, state);
        } else {
          table.row(port, counter.name(), counter.source().code(), kind, value, unit, state);
        }
      }
    }
    return table.isEmpty() ? "" : table.render();
  }

  private static String state(PortLine line, int index) {
    if (line.reading().stuck(index) || line.rates().change(index) == Change.STUCK) {
      return "stuck";
    }
    return line.rates().change(index) == Change.RESET ? "was reset" : "";
  }
}
