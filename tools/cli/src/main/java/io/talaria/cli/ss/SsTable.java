// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.Table;
import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The lines of a snapshot as a table: a column for each fact, as many as there is room for. */
final class SsTable {
  /** Marks processes of another pid namespace. */
  static final String FOREIGN_MARK = "*";

  static final int PROGRAM_CHARS = 28;

  /** The rank of a column that is always there. */
  private static final int ALWAYS = 0;

  private final List<Column> columns = new ArrayList<>();
  private final List<Snapshot.Line> lines;

  /**
   * A column.
   *
   * @param heading as {@link Table} wants it
   * @param rank the higher, the sooner it goes when there is no room
   * @param cell what it shows of a line
   */
  private record Column(String heading, int rank, Function<Snapshot.Line, String> cell) {}

  /**
   * Prepares a table.
   *
   * @param lines what it shows, in this order
   * @param atMs when that was so
   * @param rates what happened lately, or null to leave that out
   */
  SsTable(List<Snapshot.Line> lines, long atMs, Rates rates) {
    this.lines = lines;
    column(">pid", ALWAYS, line -> line.process().pid() + (foreign(line) ? FOREIGN_MARK : ""));
    column("program", 6, line -> Show.cut(line.process().program(), PROGRAM_CHARS));
    column("role", 7, line -> line.connection().role().code());
    column("local", 5, line -> Show.address(line.connection().local()));
    column("remote", ALWAYS, line -> Show.address(line.connection().remote()));
    column("transport", ALWAYS, line -> line.connection().transport().code());
    column("detail", 12, line -> detail(line.connection()));
    column("reason", ALWAYS, line -> line.connection().reason().code());
    if (rates != null) {
      figure(">in/s", ALWAYS, line -> Show.bytes(rates.in(line)));
      figure(">out/s", ALWAYS, line -> Show.bytes(rates.out(line)));
      figure(">reads/s", 9, line -> Long.toString(rates.reads(line)));
      figure(">writes/s", 9, line -> Long.toString(rates.writes(line)));
      figure(">stalls/s", 4, line -> Long.toString(rates.stalls(line)));
    }
    figure(">in", 8, line -> Show.bytes(line.connection().inBytes()));
    figure(">out", 8, line -> Show.bytes(line.connection().outBytes()));
    count(">stalls", 10, ConnectionInfo::stalls);
    figure(
        ">wakeups",
        11,
        line -> line.connection().wakeupsSent() + "/" + line.connection().wakeupsReceived());
    column(">age", 3, line -> Show.age(atMs - line.connection().openedAtMs()));
  }

  private void column(String heading, int rank, Function<Snapshot.Line, String> cell) {
    columns.add(new Column(heading, rank, cell));
  }

  /** A column that says nothing of listeners. */
  private void figure(String heading, int rank, Function<Snapshot.Line, String> cell) {
    column(heading, rank, line -> line.listener() ? "-" : cell.apply(line));
  }

  private void count(String heading, int rank, ToLongFunction<ConnectionInfo> counter) {
    figure(heading, rank, line -> Long.toString(counter.applyAsLong(line.connection())));
  }

  private static boolean foreign(Snapshot.Line line) {
    return foreign(line.process());
  }

  /** Whether a process is of another pid namespace. */
  static boolean foreign(ProcessInfo process) {
    return process.liveness() == Liveness.OTHER_NAMESPACE;
  }

  private static String detail(ConnectionInfo connection) {
    return connection.detail().isEmpty() ? "-" : connection.detail();
  }

  /** All columns. */
  String render() {
    return table(columns).render();
  }

  /** The columns that fit into so many characters, if any choice does. */
  String render(int width) {
    List<Column> shown = new ArrayList<>(columns);
    Table table = table(shown);
    while (table.width() > width) {
      Column least = shown.stream().max(Comparator.comparingInt(Column::rank)).orElseThrow();
      if (least.rank() == ALWAYS) {
        break;
      }
      shown.removeIf(column -> column.rank() == least.rank());
      table = table(shown);
    }
    return table.render();
  }

  private Table table(List<Column> shown) {
    Table table = new Table(shown.stream().map(Column::heading).toArray(String[]::new));
    for (Snapshot.Line line : lines) {
      table.row(shown.stream().map(column -> column.cell().apply(line)).toArray(String[]::new));
    }
    return table;
  }
}
