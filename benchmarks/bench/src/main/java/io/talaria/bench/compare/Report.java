// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.compare.Comparison.Gathered;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies.Percentiles;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * A comparison as text for the user: medians over the iterations with their range, targets, and the
 * times of all iterations together.
 *
 * @param machine the conditions
 * @param found what was found
 */
public record Report(Machine machine, Comparison found) {
  /** The most rows on a terminal: a user would not read more. */
  private static final int MAX_ROWS = 200;

  private static final double MEGA_PER_GIGA = 1e3;

  /** Returns it as text. */
  public String text() {
    StringBuilder out = new StringBuilder();
    machine.lines().forEach(line -> out.append(line).append('\n'));
    found.notes().forEach(line -> out.append(line).append('\n'));
    out.append('\n').append(summary().render());
    Table byJucx = byJucx();
    if (!byJucx.isEmpty()) {
      out.append("\nBy JUCX\n").append(byJucx.render());
    }
    Table percentiles = percentiles();
    if (!percentiles.isEmpty()) {
      out.append("\nTimes, all iterations together\n").append(percentiles.render());
    }
    transports(out);
    out.append(found.compilingText());
    long judged = found.judged();
    if (judged > 0) {
      out.append('\n').append(judged - found.missed());
      out.append(" of ").append(judged).append(" targets met\n");
    }
    return out.toString();
  }

  /**
   * A row that a table of libraries has, with or without figures.
   *
   * @param id the case's name for machines
   * @param label its name to be displayed
   * @param implementation the library
   */
  public record Planned(String id, String label, Implementation implementation) {}

  /**
   * Returns what was found as a table that has the implementations of a case below each other, for
   * more of them than fit side by side.
   *
   * @param planned the rows, in their order
   * @return the table, or one line if it were too long
   */
  public String libraries(List<Planned> planned) {
    if (planned.size() > MAX_ROWS) {
      return "table       " + planned.size() + " rows, which are in the report\n";
    }
    Table table = new Table("Case", "Library", ">messages/s", ">payload MB/s", ">p50", ">p99");
    planned.forEach(
        row ->
            table.row(
                row.label(),
                row.implementation().label(),
                median(row, "/messages", Units::rate, Comparison.FAILED),
                median(row, "/bytes", value -> Units.figure(MEGA_PER_GIGA * value), ""),
                median(row, "/p50", Units::time, ""),
                p99(row)));
    return table.render();
  }

  /** Without the range: five columns are as wide as a terminal. */
  private String median(
      Planned row, String measure, DoubleFunction<String> format, String otherwise) {
    Spread spread = found.spread(row.id() + measure, row.implementation());
    return spread == null ? otherwise : format.apply(spread.median());
  }

  private String p99(Planned row) {
    Histogram times = found.merged(row.id(), row.implementation());
    return times == null ? "" : Units.time((double) times.getValueAtPercentile(99));
  }

  private boolean ratios() {
    return found.implementations().containsAll(Implementation.ofSockets());
  }

  private boolean ucx() {
    return found.measures().stream().anyMatch(one -> one.spread(Implementation.UCX_IN_C) != null);
  }

  private boolean bindings() {
    return both(Implementation.TALARIA, Implementation.TALARIA_BY_JUCX);
  }

  private boolean both(Implementation one, Implementation other) {
    return found.implementations().containsAll(List.of(one, other));
  }

  /** Those besides Talaria whose ratio to the JDK has a column, with its heading, in order. */
  private Map<Implementation, String> besideJdk() {
    Map<Implementation, String> headings = new LinkedHashMap<>();
    headings.put(Implementation.TALARIA_BY_JUCX, ">JUCX / JDK");
    headings.put(Implementation.NETTY_EPOLL, ">epoll / JDK");
    headings.put(Implementation.TALARIA_ON_TCP, ">on TCP / JDK");
    headings.keySet().removeIf(one -> !both(Implementation.JDK, one));
    return headings;
  }

  /** Whether there are targets of the measures' own, which have columns. */
  private boolean targets() {
    return found.measures().stream().anyMatch(measure -> measure.target() != null);
  }

  private List<Implementation> sockets() {
    return found.implementations().stream().filter(one -> one != Implementation.UCX_IN_C).toList();
  }

  private Table summary() {
    List<String> header = new ArrayList<>(List.of("Measure"));
    sockets().forEach(implementation -> header.add(">" + implementation.label()));
    if (ratios()) {
      header.add(">Ratio");
    }
    header.addAll(besideJdk().values());
    if (bindings()) {
      header.add(">JUCX / FFM");
    }
    if (ucx()) {
      header.addAll(List.of(">UCX in C", ">Talaria / UCX"));
    }
    if (targets()) {
      header.addAll(List.of("Target", ">Reached", ""));
    }
    Table table = new Table(header.toArray(String[]::new));
    found.measures().forEach(measure -> table.row(cells(measure).toArray(String[]::new)));
    found.unmeasured().forEach(label -> table.row(failures(label, header.size())));
    return table;
  }

  private List<String> cells(Gathered measure) {
    List<String> cells = new ArrayList<>(List.of(measure.label()));
    sockets().forEach(implementation -> cells.add(found.cell(measure, implementation)));
    if (ratios()) {
      cells.add(times(measure.ratio()));
    }
    besideJdk().keySet().forEach(one -> cells.add(times(measure.ratioToJdk(one))));
    if (bindings()) {
      cells.add(times(measure.ratioByJucx()));
    }
    if (ucx()) {
      cells.add(found.cell(measure, Implementation.UCX_IN_C));
      cells.add(times(measure.timesUcx()));
    }
    if (targets()) {
      Target target = measure.target();
      cells.add(target == null ? "" : target.wanted());
      cells.add(target == null ? "" : reached(measure, target));
      cells.add(target == null ? "" : target.mark());
    }
    return cells;
  }

  /** The row of what has no measure at all. */
  private String[] failures(String label, int columns) {
    List<String> cells = new ArrayList<>(List.of(label));
    sockets().forEach(one -> cells.add(found.failed(label, one) > 0 ? Comparison.FAILED : ""));
    while (cells.size() < columns) {
      cells.add("");
    }
    return cells.toArray(String[]::new);
  }

  private Table byJucx() {
    Table table = new Table("Measure", "Target", ">Reached", "");
    found
        .byJucx()
        .forEach(
            one ->
                table.row(
                    one.label(),
                    one.target().wanted(),
                    one.target().wanted().contains("×")
                        ? one.target().reachedTimes()
                        : Quantity.BYTES.format(one.target().reached()),
                    one.target().mark()));
    return table;
  }

  private static String times(double ratio) {
    return Double.isNaN(ratio) ? "" : Units.times(ratio);
  }

  private static String reached(Gathered measure, Target target) {
    return target.wanted().startsWith("≥") || target.wanted().contains("×")
        ? target.reachedTimes()
        : measure.quantity().format(target.reached());
  }

  private Table percentiles() {
    Table table =
        new Table("", "Sockets", ">p50", ">p90", ">p99", ">p99.9", ">p99.99", ">max", ">count");
    Map<String, String> labels = new LinkedHashMap<>();
    found.times().forEach(one -> labels.put(one.id(), one.label()));
    labels.forEach(
        (id, label) -> {
          for (Implementation implementation : sockets()) {
            var histogram = found.merged(id, implementation);
            if (histogram != null) {
              Percentiles p = Percentiles.of(histogram);
              table.row(
                  label,
                  implementation.label(),
                  Units.time(p.p50()),
                  Units.time(p.p90()),
                  Units.time(p.p99()),
                  Units.time(p.p999()),
                  Units.time(p.p9999()),
                  Units.time(p.max()),
                  Units.figure((double) p.count()));
            }
          }
        });
    return table;
  }

  /** Cases that took the same transports share a line. */
  private void transports(StringBuilder out) {
    Map<String, List<String>> labels = new LinkedHashMap<>();
    found
        .transports()
        .forEach(
            (label, taken) ->
                labels
                    .computeIfAbsent(String.join("; ", taken), key -> new ArrayList<>())
                    .add(label));
    out.append(labels.isEmpty() ? "" : "\n");
    labels.forEach(
        (taken, cases) ->
            out.append("Connections on Talaria, ")
                .append(String.join("; ", cases))
                .append(": ")
                .append(taken)
                .append('\n'));
  }
}
