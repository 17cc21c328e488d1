// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.Contender;
import io.talaria.cli.harness.Latencies;
import io.talaria.cli.harness.Latencies.Percentiles;
import io.talaria.cli.harness.Quantity;
import io.talaria.cli.harness.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** A table of figures with a column for each road, and their ratio. Used by one thread. */
public final class SideBySide {
  private final List<Contender> contenders;
  private final Table table;

  /**
   * Begins a table.
   *
   * @param contenders the roads that there are figures of
   */
  public SideBySide(Collection<Contender> contenders) {
    this.contenders = contenders.stream().sorted().toList();
    List<String> header = new ArrayList<>(List.of(""));
    this.contenders.forEach(contender -> header.add(">" + contender.label()));
    if (contenders.size() > 1) {
      header.add(">ratio");
    }
    table = new Table(header.toArray(String[]::new));
  }

  /** Adds a thin line, unless nothing is above it. */
  public void line() {
    if (!table.isEmpty()) {
      table.line();
    }
  }

  /**
   * Adds a row.
   *
   * @param label what it shows
   * @param quantity what kind of figure
   * @param figure the figure of a road
   */
  public void row(String label, Quantity quantity, ToDoubleFunction<Contender> figure) {
    List<String> cells = new ArrayList<>(List.of(label));
    double[] figures = contenders.stream().mapToDouble(figure).toArray();
    for (double value : figures) {
      cells.add(quantity.format(value));
    }
    if (figures.length > 1) {
      cells.add(Quantity.TIMES.format(quantity.ratio(figures[0], figures[1])));
    }
    table.row(cells.toArray(String[]::new));
  }

  /**
   * Adds the rows of a histogram.
   *
   * @param label what it shows
   * @param histogram that of a road, encoded by {@link Latencies}
   */
  public void times(String label, Function<Contender, String> histogram) {
    time(label + ", p50", histogram, Percentiles::p50);
    time(label + ", p99", histogram, Percentiles::p99);
    time(label + ", p99.9", histogram, Percentiles::p999);
    time(label + ", longest", histogram, Percentiles::max);
  }

  private void time(
      String label, Function<Contender, String> histogram, ToDoubleFunction<Percentiles> figure) {
    row(
        label,
        Quantity.TIME,
        contender ->
            figure.applyAsDouble(Percentiles.of(Latencies.decode(histogram.apply(contender)))));
  }

  /** Returns the table as lines. */
  public String text() {
    return table.render();
  }
}
