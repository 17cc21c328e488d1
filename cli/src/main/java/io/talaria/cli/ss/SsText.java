// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.Table;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.Liveness;
import io.talaria.nio.counters.ProcessInfo;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The table for people. */
final class SsText {
  private static final int PROGRAM_CHARS = 28;
  private static final String FOREIGN_MARK = "*";

  /** Reasons that tell what is, not what is missing. */
  private static final Set<Reason> NEED_NO_WORDS =
      EnumSet.of(Reason.PENDING, Reason.SAME_HOST, Reason.ANNOUNCED);

  private SsText() {}

  /**
   * Renders a snapshot.
   *
   * @param snapshot what to show
   * @param rates what happened since the one before, or null
   * @return lines, each ended by a line feed
   */
  static String render(Snapshot snapshot, Rates rates) {
    StringBuilder out = new StringBuilder();
    if (snapshot.processes().isEmpty()) {
      out.append("no process with Talaria is found in ").append(snapshot.dir()).append('\n');
    } else {
      if (!snapshot.connections().isEmpty()) {
        out.append(table(snapshot, rates)).append('\n');
      }
      totals(snapshot).forEach(line -> out.append(line).append('\n'));
      explanations(snapshot).forEach(line -> out.append(line).append('\n'));
    }
    notes(snapshot).forEach(line -> out.append(line).append('\n'));
    return out.toString();
  }

  private static String table(Snapshot snapshot, Rates rates) {
    List<String> header = new ArrayList<>();
    header.addAll(
        List.of(">pid", "program", "role", "local", "remote", "mode", "transport", "reason"));
    header.addAll(List.of(">in", ">out"));
    if (rates != null) {
      header.addAll(List.of(">in/s", ">out/s"));
    }
    header.addAll(List.of(">stalls", ">bells", ">age"));
    Table table = new Table(header.toArray(String[]::new));
    for (Snapshot.Entry entry : snapshot.processes()) {
      for (ConnectionInfo connection : entry.connections()) {
        table.row(row(snapshot, rates, entry, connection));
      }
    }
    return table.render();
  }

  private static String[] row(
      Snapshot snapshot, Rates rates, Snapshot.Entry entry, ConnectionInfo connection) {
    ProcessInfo process = entry.process();
    boolean listener = connection.role() == Role.LISTENER;
    List<String> cells = new ArrayList<>();
    cells.add(process.pid() + (isForeign(process) ? FOREIGN_MARK : ""));
    cells.add(Show.cut(process.program(), PROGRAM_CHARS));
    cells.add(connection.role().code());
    cells.add(Show.address(connection.local()));
    cells.add(Show.address(connection.remote()));
    cells.add(connection.mode().code());
    cells.add(connection.transport().isEmpty() ? "-" : connection.transport());
    cells.add(connection.reason().code());
    cells.add(listener ? "-" : Show.bytes(connection.inBytes()));
    cells.add(listener ? "-" : Show.bytes(connection.outBytes()));
    if (rates != null) {
      cells.add(listener ? "-" : Show.bytes(rates.in(entry, connection)));
      cells.add(listener ? "-" : Show.bytes(rates.out(entry, connection)));
    }
    cells.add(listener ? "-" : Long.toString(connection.stalls()));
    cells.add(listener ? "-" : connection.bellsSent() + "/" + connection.bellsReceived());
    cells.add(Show.age(snapshot.atMs() - connection.openedAtMs()));
    return cells.toArray(String[]::new);
  }

  private static boolean isForeign(ProcessInfo process) {
    return process.liveness() == Liveness.OTHER_NAMESPACE;
  }

  private static List<String> totals(Snapshot snapshot) {
    Map<Mode, Long> modes = new EnumMap<>(Mode.class);
    long in = 0;
    long out = 0;
    long connections = 0;
    for (ConnectionInfo connection : snapshot.connections()) {
      if (connection.role() != Role.LISTENER) {
        connections++;
        modes.merge(connection.mode(), 1L, Long::sum);
        in += connection.inBytes();
        out += connection.outBytes();
      }
    }
    List<String> byMode = new ArrayList<>();
    modes.forEach((mode, count) -> byMode.add(count + " " + mode.code()));
    List<String> lines = new ArrayList<>();
    lines.add(
        count(snapshot.processes().size(), "process", "processes")
            + ", "
            + count(snapshot.listeners(), "listener", "listeners")
            + ", "
            + count(connections, "connection", "connections")
            + (byMode.isEmpty() ? "" : " (" + String.join(", ", byMode) + ")")
            + "; in "
            + Show.bytes(in)
            + ", out "
            + Show.bytes(out));
    Map<Reason, Long> refused = new EnumMap<>(Reason.class);
    for (Snapshot.Entry entry : snapshot.processes()) {
      entry.process().totals().refused().forEach((why, n) -> refused.merge(why, n, Long::sum));
    }
    if (!refused.isEmpty()) {
      List<String> parts = new ArrayList<>();
      refused.forEach((why, n) -> parts.add(why.code() + " " + n));
      lines.add("upgrades that did not come about so far: " + String.join(", ", parts));
    }
    return lines;
  }

  private static String count(long number, String one, String many) {
    return number + " " + (number == 1 ? one : many);
  }

  /** Why connections are on TCP, and what to do about it. */
  private static List<String> explanations(Snapshot snapshot) {
    Set<Reason> reasons = EnumSet.noneOf(Reason.class);
    for (ConnectionInfo connection : snapshot.connections()) {
      if (connection.mode() == Mode.TCP && !NEED_NO_WORDS.contains(connection.reason())) {
        reasons.add(connection.reason());
      }
    }
    List<String> lines = new ArrayList<>();
    for (Reason reason : reasons) {
      lines.add(reason.code() + ": " + reason.sentence() + " " + reason.cure());
    }
    return lines;
  }

  private static List<String> notes(Snapshot snapshot) {
    List<String> lines = new ArrayList<>();
    boolean foreign = false;
    for (Snapshot.Entry entry : snapshot.processes()) {
      ProcessInfo process = entry.process();
      foreign |= isForeign(process);
      if (process.unlisted() > 0) {
        lines.add(
            "process "
                + process.pid()
                + ": "
                + process.unlisted()
                + " more found no room in "
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
    if (foreign) {
      lines.add(FOREIGN_MARK + " of another pid namespace; whether it lives cannot be told here");
    }
    snapshot.problems().forEach(problem -> lines.add("not read: " + problem));
    return lines;
  }
}
