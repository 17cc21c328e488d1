// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies.Percentiles;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Target;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The report of a benchmark, for people and for machines.
 *
 * @param machine the conditions
 * @param options what was asked for
 * @param scenarios what was to be measured
 * @param results what was measured
 * @param rows the measures
 */
record Report(
    Machine machine,
    Map<String, Object> options,
    List<Scenario> scenarios,
    Results results,
    List<Row> rows) {

  /** Returns how many targets were missed. */
  long missed() {
    return rows.stream().filter(row -> row.target() != null && !row.target().met()).count();
  }

  /** Returns the report as text. */
  String text() {
    StringBuilder out = new StringBuilder();
    machine.lines().forEach(line -> out.append(line).append('\n'));
    out.append('\n').append(summary().render());
    Table percentiles = percentiles();
    if (!percentiles.isEmpty()) {
      out.append("\nRound trips, all rounds together\n").append(percentiles.render());
    }
    long judged = rows.stream().filter(row -> row.target() != null).count();
    if (judged > 0) {
      out.append('\n')
          .append(judged - missed())
          .append(" of ")
          .append(judged)
          .append(" targets met\n");
    }
    return out.toString();
  }

  private Table summary() {
    boolean ucx = rows.stream().anyMatch(row -> row.ucx() != null);
    List<String> header = new ArrayList<>(List.of("Measure", ">JDK", ">Talaria", ">Ratio"));
    if (ucx) {
      header.addAll(List.of(">UCX in C", ">Talaria / UCX"));
    }
    header.addAll(List.of("Target", ">Reached", ""));
    Table table = new Table(header.toArray(String[]::new));
    for (Row row : rows) {
      List<String> cells = new ArrayList<>();
      cells.add(row.label());
      cells.add(row.quantity().format(row.jdk()));
      cells.add(row.quantity().format(row.talaria()));
      cells.add(Double.isNaN(row.ratio()) ? "" : Units.times(row.ratio()));
      if (ucx) {
        cells.add(row.quantity().format(row.ucx()));
        cells.add(Double.isNaN(row.timesUcx()) ? "" : Units.times(row.timesUcx()));
      }
      Target target = row.target();
      cells.add(target == null ? "" : target.wanted());
      cells.add(target == null ? "" : reached(row, target));
      cells.add(target == null ? "" : target.mark());
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }

  private static String reached(Row row, Target target) {
    return target.wanted().startsWith("≥") || target.wanted().contains("×")
        ? target.reachedTimes()
        : row.quantity().format(target.reached());
  }

  private Table percentiles() {
    Table table =
        new Table("", "Sockets", ">p50", ">p90", ">p99", ">p99.9", ">max", ">round trips");
    for (Scenario scenario : scenarios) {
      for (Contender contender : Contender.values()) {
        Histogram histogram =
            results.merged(scenario, contender, run -> run.histogram(Measured.ROUND_TRIP));
        if (histogram != null && scenario.pattern() != Pattern.ALLOC) {
          Percentiles p = Percentiles.of(histogram);
          table.row(
              scenario.label(),
              contender.label(),
              Units.time(p.p50()),
              Units.time(p.p90()),
              Units.time(p.p99()),
              Units.time(p.p999()),
              Units.time(p.max()),
              Units.figure((double) p.count()));
        }
      }
    }
    return table;
  }

  /** Returns the report as values that {@link Json} writes. */
  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("format", "talaria-bench-sockets-1");
    json.put("environment", machine);
    json.put("options", options);
    json.put("targetsMissed", missed());
    json.put("measures", rows.stream().map(Report::json).toList());
    json.put("runs", results.runs().stream().map(Report::json).toList());
    return json;
  }

  private static Map<String, Object> json(Row row) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", row.id());
    json.put("label", row.label());
    json.put("unit", row.quantity().unit());
    json.put("jdk", row.jdk());
    json.put("talaria", row.talaria());
    json.put("ratio", Json.number(row.ratio()));
    json.put("ucx", row.ucx());
    json.put("timesUcx", Json.number(row.timesUcx()));
    json.put("target", row.target());
    return json;
  }

  private static Map<String, Object> json(Results.Run run) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", run.scenario().id());
    json.put("scenario", run.scenario());
    json.put("contender", run.contender());
    json.put("round", run.round());
    Map<String, Object> values = new LinkedHashMap<>();
    run.client().values().forEach((name, value) -> values.put(name, Json.number(value)));
    run.server().values().forEach((name, value) -> values.put(name, Json.number(value)));
    json.put("values", values);
    Map<String, Object> histograms = new LinkedHashMap<>();
    run.client()
        .histograms()
        .forEach(
            (name, text) -> {
              Map<String, Object> histogram = new LinkedHashMap<>();
              histogram.put("unit", "ns");
              histogram.put("percentiles", Percentiles.of(run.histogram(name)));
              histogram.put("hdr", text);
              histograms.put(name, histogram);
            });
    json.put("histograms", histograms);
    json.put("roads", run.client().roads());
    return json;
  }
}
