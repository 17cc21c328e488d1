// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import io.talaria.cli.ports.PortLine;
import io.talaria.monitor.Change;
import io.talaria.monitor.Counter;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.Difference;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Reading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Readings that errors are counted from, our own: nothing is reset. */
final class Base {
  private final Map<PortId, Reading> readings = new HashMap<>();

  /**
   * Errors of one counter.
   *
   * @param name the counter
   * @param amount how many since the base
   * @param more how many of them in the last interval
   * @param stuck whether the counter stands at its maximum, so that there may be more
   */
  record Errors(String name, double amount, double more, boolean stuck) {}

  /** Begins anew at what is shown now. */
  void set(List<PortLine> lines) {
    readings.clear();
    for (PortLine line : lines) {
      if (line.reading() != null) {
        readings.put(line.port().id(), line.reading());
      }
    }
  }

  /** The errors of a port that are there at all. */
  List<Errors> errors(PortLine line) {
    List<Errors> errors = new ArrayList<>();
    Reading now = line.reading();
    if (now == null) {
      return errors;
    }
    Reading before = readings.get(line.port().id());
    for (int i = 0; i < now.counters().size(); i++) {
      Counter counter = now.counters().get(i);
      if (counter.kind() == CounterKind.ERRORS && now.known(i)) {
        double amount = since(before, now, i);
        if (amount > 0) {
          errors.add(
              new Errors(
                  counter.name(),
                  amount,
                  Math.max(0, line.rates().amount(i)),
                  now.stuck(i) || line.rates().change(i) == Change.STUCK));
        }
      }
    }
    return errors;
  }

  private static double since(Reading before, Reading now, int index) {
    Counter counter = now.counters().get(index);
    int old = before == null ? -1 : before.counters().indexOf(counter);
    if (old < 0 || !before.known(old)) {
      return now.amount(index);
    }
    Difference difference = Difference.of(counter, before.value(old), now.value(index));
    return switch (difference.change()) {
      case COUNTED -> now.amount(index) - before.amount(old);
      case RESET -> now.amount(index);
      // At its maximum it has counted at least so much.
      case STUCK -> Math.max(0, now.amount(index) - before.amount(old));
      case UNKNOWN -> 0;
    };
  }
}
