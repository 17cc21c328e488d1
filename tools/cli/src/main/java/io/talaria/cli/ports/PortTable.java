// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.Table;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.Port;
import io.talaria.monitor.Reading;
import io.talaria.monitor.Traffic;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/** Ports as a table: a column for each fact, as many as there is room for. */
public final class PortTable {
  /** The rank of a column that is always there. */
  private static final int ALWAYS = 0;

  private final List<Column> columns = new ArrayList<>();
  private final List<PortLine> lines;

  /**
   * A column.
   *
   * @param heading as {@link Table} wants it
   * @param rank the higher, the sooner it goes when there is no room
   * @param cell what it shows of a port
   */
  private record Column(String heading, int rank, Function<PortLine, String> cell) {}

  /**
   * Prepares a table.
   *
   * @param lines what it shows, in this order
   * @param rates whether what happens in a second is shown beside the sums
   * @param bits whether rates are in bits
   */
  public PortTable(List<PortLine> lines, boolean rates, boolean bits) {
    this.lines = lines;
    boolean fabric = lines.stream().anyMatch(line -> line.port().remote());
    column("port", ALWAYS, line -> line.port().id().toString());
    column("layer", 8, line -> line.port().layer().text());
    column("state", 2, line -> line.port().state().code());
    column("rate", 5, line -> orDash(line.port().rate().text()));
    if (fabric) {
      column("to", 4, line -> line.peer() == null ? "-" : line.peer().toString());
    } else {
      column("interface", 9, line -> orDash(String.join(",", line.port().netDevices())));
    }
    column(">lid", 10, line -> lid(line.port()));
    if (rates) {
      rate(">in/s", ALWAYS, CounterKind.DATA, Traffic.RECEIVED, bits);
      rate(">out/s", ALWAYS, CounterKind.DATA, Traffic.SENT, bits);
      rate(">packets in/s", 7, CounterKind.PACKETS, Traffic.RECEIVED, false);
      rate(">packets out/s", 7, CounterKind.PACKETS, Traffic.SENT, false);
    }
    total(">in", rates ? 11 : 6, CounterKind.DATA, Traffic.RECEIVED);
    total(">out", rates ? 11 : 6, CounterKind.DATA, Traffic.SENT);
    if (!rates) {
      total(">packets in", 12, CounterKind.PACKETS, Traffic.RECEIVED);
      total(">packets out", 12, CounterKind.PACKETS, Traffic.SENT);
    }
    column(">errors", 1, line -> sum(line, CounterKind.ERRORS, rates));
    column(">waits", 13, line -> sum(line, CounterKind.CONGESTION, false));
    column("note", 3, PortLine::note);
  }

  private void column(String heading, int rank, Function<PortLine, String> cell) {
    columns.add(new Column(heading, rank, cell));
  }

  private void rate(String heading, int rank, CounterKind kind, Traffic traffic, boolean bits) {
    column(
        heading,
        rank,
        line -> {
          double perSecond = line.rates() == null ? -1 : line.rates().perSecond(kind, traffic);
          return kind == CounterKind.DATA
              ? Figures.rate(perSecond, bits)
              : Figures.count(perSecond);
        });
  }

  private void total(String heading, int rank, CounterKind kind, Traffic traffic) {
    column(
        heading,
        rank,
        line -> {
          double total = total(line.reading(), kind, traffic);
          return kind == CounterKind.DATA ? Figures.bytes(total) : Figures.count(total);
        });
  }

  private static double total(Reading reading, CounterKind kind, Traffic traffic) {
    int index = reading == null ? -1 : reading.indexOf(kind, traffic);
    return index < 0 ? -1 : reading.amount(index);
  }

  private static String sum(PortLine line, CounterKind kind, boolean newOnes) {
    if (line.reading() == null) {
      return "-";
    }
    String all = Figures.count(line.reading().sum(kind));
    double more = newOnes ? line.rates().sum(kind) : 0;
    return more > 0 ? all + " (+" + Figures.count(more) + ")" : all;
  }

  private static String lid(Port port) {
    return port.lid() == 0 ? "-" : Integer.toString(port.lid());
  }

  private static String orDash(String text) {
    return text.isEmpty() ? "-" : text;
  }

  /** All columns, in lines each ended by a line feed. */
  public String render() {
    return table(used()).render();
  }

  /** The columns that fit into so many characters, if any choice does. */
  public String render(int width) {
    List<Column> shown = used();
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

  /** The columns that say something of any port. */
  private List<Column> used() {
    List<Column> used = new ArrayList<>(columns);
    used.removeIf(
        column ->
            column.rank() != ALWAYS
                && lines.stream()
                    .map(column.cell())
                    .allMatch(cell -> cell.isEmpty() || cell.equals("-")));
    return used;
  }

  private Table table(List<Column> shown) {
    Table table = new Table(shown.stream().map(Column::heading).toArray(String[]::new));
    for (PortLine line : lines) {
      table.row(shown.stream().map(column -> column.cell().apply(line)).toArray(String[]::new));
    }
    return table;
  }
}
