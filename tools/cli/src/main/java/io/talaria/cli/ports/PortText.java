// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.Terminal;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/** What the user sees of a look. */
final class PortText {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  private PortText() {}

  /** Everything, in lines each ended by a line feed. */
  static String render(Look look, PortsCommand.Wishes wishes) {
    boolean rates = wishes.look().watching();
    StringBuilder text = new StringBuilder();
    if (wishes.counters()) {
      text.append(CounterTable.render(look.lines(), rates));
    } else if (!look.lines().isEmpty()) {
      text.append(new PortTable(look.lines(), rates, wishes.bits()).render());
    }
    notes(look).forEach(note -> text.append(note).append('\n'));
    return text.toString();
  }

  /** As much as a screen holds. */
  static List<String> screen(Look look, PortsCommand.Wishes wishes, Terminal.Size size) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "talaria ports  "
            + TIME.format(Instant.ofEpochMilli(look.atMs()).atZone(ZoneId.systemDefault()))
            + "  every "
            + every(wishes.look().seconds())
            + "; q or Ctrl-C ends");
    lines.add("");
    if (wishes.counters()) {
      lines.addAll(CounterTable.render(look.lines(), true).lines().toList());
    } else if (!look.lines().isEmpty()) {
      lines.addAll(
          new PortTable(look.lines(), true, wishes.bits()).render(size.columns()).lines().toList());
    }
    lines.add("");
    lines.addAll(notes(look));
    return lines.size() <= size.rows() ? lines : List.copyOf(lines.subList(0, size.rows()));
  }

  private static String every(double seconds) {
    return (seconds == Math.rint(seconds) ? Long.toString((long) seconds) : "" + seconds) + " s";
  }

  private static List<String> notes(Look look) {
    List<String> notes = new ArrayList<>();
    if (!look.problem().isEmpty()) {
      notes.add(look.problem());
    }
    if (look.lines().isEmpty()) {
      notes.add(
          look.leftOut() == 0
              ? "no port is found"
              : "no port is found but " + look.leftOut() + " that --all shows");
    }
    if (look.topology() != null) {
      notes.add(
          look.topology().nodes().size()
              + " nodes, "
              + look.topology().connected().size()
              + " ports with a link, discovered in "
              + look.topology().tookNs() / 1_000_000
              + " ms");
    }
    return notes;
  }
}
