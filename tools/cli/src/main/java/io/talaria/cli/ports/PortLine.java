// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.monitor.Change;
import io.talaria.monitor.Counter;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.Port;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Rates;
import io.talaria.monitor.Reading;
import java.util.ArrayList;
import java.util.List;

/**
 * A port and what is known of its counters.
 *
 * @param port the port
 * @param rates its last reading, and the rates that it gave; null if it has not responded
 * @param problem why it has not; empty if it has
 * @param peer the port at the other end of the link, if it is one of a fabric; else null
 */
public record PortLine(Port port, Rates rates, String problem, PortId peer) {
  /** A port of this host. */
  static PortLine local(Rates rates) {
    return new PortLine(rates.reading().port(), rates, "", null);
  }

  /** The last reading, or null. */
  public Reading reading() {
    return rates == null ? null : rates.reading();
  }

  /** What the user should know beside the figures; empty if nothing. */
  public String note() {
    if (rates == null) {
      return problem;
    }
    List<String> notes = new ArrayList<>();
    Reading reading = rates.reading();
    if (reading.counters().isEmpty()) {
      notes.add("no counters");
    } else if (reading.sum(CounterKind.DATA) < 0) {
      notes.add("counts no bytes");
    }
    List<String> stuck = new ArrayList<>();
    List<String> reset = new ArrayList<>();
    for (int i = 0; i < reading.counters().size(); i++) {
      Counter counter = reading.counters().get(i);
      if (reading.stuck(i) || rates.change(i) == Change.STUCK) {
        stuck.add(counter.name());
      } else if (rates.change(i) == Change.RESET) {
        reset.add(counter.name());
      }
    }
    if (!stuck.isEmpty()) {
      notes.add("stuck: " + some(stuck));
    }
    if (!reset.isEmpty()) {
      notes.add("was reset: " + some(reset));
    }
    return String.join("; ", notes);
  }

  private static String some(List<String> names) {
    return names.size() <= 3
        ? String.join(", ", names)
        : String.join(", ", names.subList(0, 2)) + " and " + (names.size() - 2) + " more";
  }

  /** Whether the port has counted errors. */
  public boolean hasErrors() {
    return rates != null && rates.reading().sum(CounterKind.ERRORS) > 0;
  }
}
