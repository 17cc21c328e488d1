// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.Terminal;
import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.cli.ss.snapshot.SortKey;
import io.talaria.cli.ss.snapshot.Summary;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What the user sees: the table, its sums, and the reasons in words. */
final class SsText {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  /**
   * What stands above the rows of a screen in addition to the head: a blank line, headings and a
   * rule.
   */
  private static final int ABOVE_ROWS = 3;

  private static final String INDENT = "  ";

  /** So many processes without connections are named. */
  private static final int MAX_IDLE = 8;

  /** Reasons that tell what is, not what is missing. */
  private static final Set<Reason> NEED_NO_WORDS =
      EnumSet.of(Reason.PENDING, Reason.SAME_HOST, Reason.BETWEEN_HOSTS, Reason.ANNOUNCED);

  private final Snapshot snapshot;
  private final Rates rates;
  private final SortKey sort;

  /**
   * Prepares a text.
   *
   * @param snapshot what to show
   * @param rates what happened since the one before, or null
   * @param sort the order of the rows
   */
  SsText(Snapshot snapshot, Rates rates, SortKey sort) {
    this.snapshot = snapshot;
    this.rates = rates;
    this.sort = sort;
  }

  /** Everything, in lines each ended by a line feed. */
  String render() {
    List<String> lines = new ArrayList<>();
    List<Snapshot.Line> rows = sort.sorted(snapshot.lines(), rates);
    if (!rows.isEmpty()) {
      lines.addAll(new SsTable(rows, snapshot.atMs(), rates).render().lines().toList());
      lines.add("");
    }
    lines.addAll(sums());
    lines.addAll(explanations());
    lines.addAll(notes());
    return String.join("\n", lines) + "\n";
  }

  /**
   * As much as a screen holds: sums above, rows while there is room, and what is left of it for the
   * rest.
   *
   * @param every how often the screen is refreshed
   * @param size the screen
   */
  List<String> screen(String every, Terminal.Size size) {
    List<String> screen = new ArrayList<>();
    screen.add(
        "talaria ss  "
            + TIME.format(Instant.ofEpochMilli(snapshot.atMs()).atZone(ZoneId.systemDefault()))
            + "  every "
            + every
            + ", sorted by "
            + sort.code()
            + "; q or Ctrl-C ends");
    screen.addAll(wrapped(sums(), size.columns()));
    List<Snapshot.Line> rows = sort.sorted(snapshot.lines(), rates);
    if (!rows.isEmpty()) {
      int room = Math.max(1, size.rows() - screen.size() - ABOVE_ROWS);
      int shown = rows.size() <= room ? rows.size() : Math.max(1, room - 1);
      screen.add("");
      screen.addAll(
          new SsTable(rows.subList(0, shown), snapshot.atMs(), rates)
              .render(size.columns())
              .lines()
              .toList());
      if (shown < rows.size()) {
        screen.add("… and " + (rows.size() - shown) + " more");
      }
    }
    List<String> rest = new ArrayList<>(notes());
    rest.addAll(explanations());
    if (!rest.isEmpty()) {
      screen.add("");
      screen.addAll(wrapped(rest, size.columns()));
    }
    return screen.subList(0, Math.min(screen.size(), size.rows()));
  }

  /** Lines that a screen does not cut: what is too long continues below, indented. */
  static List<String> wrapped(List<String> lines, int columns) {
    List<String> all = new ArrayList<>();
    for (String line : lines) {
      String rest = line;
      while (rest.length() > columns) {
        int space = rest.lastIndexOf(' ', columns);
        if (space <= INDENT.length()) {
          break; // a word longer than the screen is wide
        }
        all.add(rest.substring(0, space));
        rest = INDENT + rest.substring(space + 1);
      }
      all.add(rest);
    }
    return all;
  }

  private List<String> sums() {
    if (snapshot.processes().isEmpty()) {
      return List.of(
          snapshot.leftOut() == 0
              ? "no process with Talaria is found in " + snapshot.dir()
              : "nothing matches: looked at "
                  + count(snapshot.leftOut(), "process", "processes")
                  + " in "
                  + snapshot.dir());
    }
    Summary summary = new Summary(snapshot, rates);
    List<String> byTransport = new ArrayList<>();
    for (NioTransport transport : NioTransport.values()) {
      if (summary.transports().get(transport) > 0) {
        byTransport.add(summary.transports().get(transport) + " " + transport.code());
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add(
        count(summary.processes(), "process", "processes")
            + ", "
            + count(summary.listeners(), "listener", "listeners")
            + ", "
            + count(summary.connections(), "connection", "connections")
            + (byTransport.isEmpty() ? "" : " (" + String.join(", ", byTransport) + ")")
            + "; in "
            + Show.bytes(summary.inBytes())
            + ", out "
            + Show.bytes(summary.outBytes())
            + (rates == null ? "" : now(summary)));
    if (!summary.refused().isEmpty()) {
      List<String> parts = new ArrayList<>();
      summary.refused().forEach((why, n) -> parts.add(why.code() + " " + n));
      lines.add("upgrades that were not made so far: " + String.join(", ", parts));
    }
    return lines;
  }

  private static String now(Summary summary) {
    return "; now in "
        + Show.bytes(summary.inRate())
        + "/s, out "
        + Show.bytes(summary.outRate())
        + "/s, "
        + summary.stallRate()
        + " stalls/s";
  }

  private static String count(long number, String one, String many) {
    return number + " " + (number == 1 ? one : many);
  }

  /** Why connections are on TCP, and what to do about it. */
  private List<String> explanations() {
    Set<Reason> reasons = EnumSet.noneOf(Reason.class);
    for (Snapshot.Line line : snapshot.lines()) {
      Reason reason = line.connection().reason();
      if (line.connection().transport() == NioTransport.TCP && !NEED_NO_WORDS.contains(reason)) {
        reasons.add(reason);
      }
    }
    List<String> lines = new ArrayList<>();
    for (Reason reason : reasons) {
      lines.add(reason.code() + ": " + reason.sentence() + " " + reason.hint());
    }
    if (reasons.contains(Reason.NO_UCX)) {
      for (Snapshot.Entry entry : snapshot.processes()) {
        ProcessInfo process = entry.process();
        if (!process.ucxUnavailableReason().isEmpty()) {
          lines.add("process " + process.pid() + ": " + process.ucxUnavailableReason());
        }
      }
    }
    return lines;
  }

  private List<String> notes() {
    List<String> lines = new ArrayList<>();
    boolean foreign = false;
    List<String> idle = new ArrayList<>();
    for (Snapshot.Entry entry : snapshot.processes()) {
      ProcessInfo process = entry.process();
      foreign |= SsTable.foreign(process);
      if (process.connections().isEmpty() && process.unlisted() == 0) {
        idle.add(process.pid() + " " + Show.cut(process.program(), SsTable.PROGRAM_CHARS));
      }
      if (process.unlisted() > 0) {
        lines.add(
            "process "
                + process.pid()
                + ": "
                + process.unlisted()
                + " more do not fit into "
                + process.file());
      }
      if (process.damaged() > 0) {
        lines.add(
            "process "
                + process.pid()
                + ": left out "
                + count(process.damaged(), "record that makes", "records that make")
                + " no sense in "
                + process.file());
      }
    }
    if (!idle.isEmpty()) {
      lines.add(
          "no NIO connection: "
              + String.join(", ", idle.subList(0, Math.min(idle.size(), MAX_IDLE)))
              + (idle.size() <= MAX_IDLE ? "" : " and " + (idle.size() - MAX_IDLE) + " more")
              + " (java.net.Socket is Talaria's with talaria.sockets=true only)");
    }
    if (foreign) {
      lines.add(
          SsTable.FOREIGN_MARK + " of another pid namespace; ss cannot tell whether it is alive");
    }
    snapshot.problems().forEach(problem -> lines.add("not read: " + problem));
    return lines;
  }
}
