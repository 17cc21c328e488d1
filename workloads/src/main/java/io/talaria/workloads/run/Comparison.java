// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Latencies.Percentiles;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.ModeProbe;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * What was found on the roads compared, for people and for machines: medians over the rounds with
 * their range, and the times of all rounds together. Not for use by several threads.
 */
public final class Comparison {
  private final List<Contender> contenders;
  private final Map<String, Measure> measures = new LinkedHashMap<>();
  private final Map<String, Times> times = new LinkedHashMap<>();
  private final List<Object> runs = new ArrayList<>();
  private final Map<String, Set<String>> roads = new LinkedHashMap<>();

  /** In how many rounds compilers were busy when measuring began. */
  private final Map<String, Integer> compiling = new LinkedHashMap<>();

  /**
   * Creates an empty comparison.
   *
   * @param contenders the roads compared; if it is only one, there are no ratios
   */
  public Comparison(List<Contender> contenders) {
    this.contenders = List.copyOf(contenders);
  }

  private record Measure(String label, Quantity quantity, Map<Contender, List<Double>> values) {
    Spread spread(Contender contender) {
      List<Double> found = values.get(contender);
      return found == null ? null : Spread.of(found);
    }

    double ratio() {
      Spread jdk = spread(Contender.JDK);
      Spread talaria = spread(Contender.TALARIA);
      return jdk == null || talaria == null || jdk.median() <= 0 || talaria.median() <= 0
          ? Double.NaN
          : quantity.ratio(jdk.median(), talaria.median());
    }
  }

  private record Times(String label, Map<Contender, Histogram> histograms) {}

  /**
   * Adds what one round of a trial has found.
   *
   * @param id the trial's name for machines
   * @param label its name for people
   * @param contender on which road
   * @param found what was found
   */
  public void add(String id, String label, Contender contender, Found found) {
    add(id + "/rate", label, Quantity.PER_SECOND, contender, found.perSecond());
    if (found.bytes() > 0) {
      Quantity quantity = Quantity.GIGABYTES_PER_SECOND;
      add(id + "/bytes", label, quantity, contender, found.gigabytesPerSecond());
    }
    Histogram histogram = found.times();
    if (histogram != null) {
      addTimes(id, label, contender, histogram);
    }
  }

  /**
   * Adds a round as it was found.
   *
   * @param id the name for machines of what was measured
   * @param label its name for people
   * @param contender on which road
   * @param rested whether compilers rested when measuring began
   * @param found what was found: a record
   */
  public void addRun(String id, String label, Contender contender, boolean rested, Object found) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("id", id);
    run.put("contender", contender);
    run.put("found", found);
    runs.add(run);
    if (!rested) {
      compiling.merge(label + " on " + contender.label(), 1, Integer::sum);
    }
  }

  /**
   * Adds which roads the connections of a round took, to be shown if they were Talaria's.
   *
   * @param label what they did
   * @param contender on which road they should be
   * @param taken what they took
   */
  public void addRoads(String label, Contender contender, ModeProbe.Roads taken) {
    if (contender == Contender.TALARIA) {
      roads.computeIfAbsent(label, key -> new LinkedHashSet<>()).add(taken.describe());
    }
  }

  /**
   * Adds a figure of one round.
   *
   * @param id its name for machines
   * @param label its name for people
   * @param quantity what it is
   * @param contender on which road
   * @param value the figure
   */
  public void add(String id, String label, Quantity quantity, Contender contender, double value) {
    measures
        .computeIfAbsent(id, key -> new Measure(label, quantity, new EnumMap<>(Contender.class)))
        .values()
        .computeIfAbsent(contender, key -> new ArrayList<>())
        .add(value);
  }

  /**
   * Adds the times of one round.
   *
   * @param id the name for machines of what was timed
   * @param label its name for people
   * @param contender on which road
   * @param histogram the times, in nanoseconds
   */
  public void addTimes(String id, String label, Contender contender, Histogram histogram) {
    double median = histogram.getValueAtPercentile(50);
    add(id + "/p50", label + ", p50", Quantity.TIME, contender, median);
    times
        .computeIfAbsent(id, key -> new Times(label, new EnumMap<>(Contender.class)))
        .histograms()
        .computeIfAbsent(contender, key -> Latencies.histogram())
        .add(histogram);
  }

  /**
   * Returns the report as text.
   *
   * @param machine the conditions
   */
  public String text(Machine machine) {
    StringBuilder out = new StringBuilder();
    machine.lines().forEach(line -> out.append(line).append('\n'));
    out.append('\n').append(summary().render());
    if (!times.isEmpty()) {
      out.append("\nTimes, all rounds together\n").append(percentiles().render());
    }
    out.append(roads.isEmpty() ? "" : "\n");
    labelsByRoads()
        .forEach(
            (taken, labels) ->
                out.append("Connections on Talaria, ")
                    .append(String.join("; ", labels))
                    .append(": ")
                    .append(taken)
                    .append('\n'));
    if (!compiling.isEmpty()) {
      out.append("\nCompilers were still busy when measuring began, a longer --warm-up helps:\n");
      compiling.forEach(
          (what, rounds) ->
              out.append("  ")
                  .append(what)
                  .append(rounds == 1 ? "" : ", " + rounds + " rounds")
                  .append('\n'));
    }
    return out.toString();
  }

  /** Cases that took the same roads share a line. */
  private Map<String, List<String>> labelsByRoads() {
    Map<String, List<String>> labels = new LinkedHashMap<>();
    roads.forEach(
        (label, taken) ->
            labels.computeIfAbsent(String.join("; ", taken), key -> new ArrayList<>()).add(label));
    return labels;
  }

  private boolean both() {
    return contenders.size() > 1;
  }

  private Table summary() {
    List<String> header = new ArrayList<>(List.of("Measure"));
    contenders.forEach(contender -> header.add(">" + contender.label()));
    if (both()) {
      header.add(">Ratio");
    }
    Table table = new Table(header.toArray(String[]::new));
    for (Measure measure : measures.values()) {
      List<String> cells = new ArrayList<>(List.of(measure.label()));
      contenders.forEach(
          contender -> cells.add(measure.quantity().format(measure.spread(contender))));
      if (both()) {
        cells.add(Double.isNaN(measure.ratio()) ? "" : Units.times(measure.ratio()));
      }
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }

  private Table percentiles() {
    Table table =
        new Table("", "Sockets", ">p50", ">p90", ">p99", ">p99.9", ">p99.99", ">max", ">count");
    for (Times one : times.values()) {
      one.histograms()
          .forEach(
              (contender, histogram) -> {
                Percentiles p = Percentiles.of(histogram);
                table.row(
                    one.label(),
                    contender.label(),
                    Units.time(p.p50()),
                    Units.time(p.p90()),
                    Units.time(p.p99()),
                    Units.time(p.p999()),
                    Units.time(p.p9999()),
                    Units.time(p.max()),
                    Units.figure((double) p.count()));
              });
    }
    return table;
  }

  /**
   * Returns the report as values that {@link Json} writes.
   *
   * @param format the name of the format
   * @param machine the conditions
   * @param options what was asked for
   */
  public Map<String, Object> json(String format, Machine machine, Map<String, Object> options) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("format", format);
    json.put("environment", machine);
    json.put("options", options);
    List<Object> rows = new ArrayList<>();
    measures.forEach((id, measure) -> rows.add(json(id, measure)));
    json.put("measures", rows);
    json.put("runs", runs);
    return json;
  }

  private static Map<String, Object> json(String id, Measure measure) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", id);
    json.put("label", measure.label());
    json.put("unit", measure.quantity().unit());
    json.put("jdk", measure.spread(Contender.JDK));
    json.put("talaria", measure.spread(Contender.TALARIA));
    json.put("ratio", Json.number(measure.ratio()));
    return json;
  }
}
