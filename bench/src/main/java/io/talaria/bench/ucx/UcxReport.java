// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Target;
import io.talaria.bench.ucx.UcxResults.Round;
import io.talaria.bench.ucx.UcxResults.Row;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Table;
import io.talaria.cli.harness.Units;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The report of {@code bench ucx}, for people and for machines.
 *
 * @param machine the conditions
 * @param ucx the release of UCX on this side
 * @param options what was asked for
 * @param results what was measured
 */
record UcxReport(Machine machine, String ucx, Map<String, Object> options, UcxResults results) {

  /** Returns how many targets were missed. */
  long missed() {
    return results.rows().stream()
        .filter(row -> row.target() != null && !row.target().met())
        .count();
  }

  /** Returns the report as text. */
  String text() {
    StringBuilder out = new StringBuilder();
    machine.lines().forEach(line -> out.append(line).append('\n'));
    out.append("UCX      ").append(ucx).append(", UCX_TLS=").append(options.get("transports"));
    out.append('\n');
    table(out, Kind.LATENCY, "Latency: there and back; get and atomics: until it is done");
    table(out, Kind.THROUGHPUT, "Throughput, up to " + Side.WINDOW + " in flight");
    List<Target> judged =
        results.rows().stream().map(Row::target).filter(target -> target != null).toList();
    if (!judged.isEmpty()) {
      out.append('\n')
          .append(judged.size() - missed())
          .append(" of ")
          .append(judged.size())
          .append(" targets met\n");
    }
    return out.toString();
  }

  private void table(StringBuilder out, Kind kind, String title) {
    Table table =
        new Table("Operation", ">Size", ">Talaria", ">ucx_perftest", ">Ratio", "Target", "");
    for (Row row : results.rows()) {
      if (row.what().kind() == kind) {
        Target target = row.target();
        table.row(
            row.what().operation().word(),
            Units.bytes(row.what().sizeBytes()),
            row.what().quantity().format(row.talaria()),
            row.what().quantity().format(row.baseline()),
            Quantity.TIMES.format(row.ratio()),
            target == null ? "" : target.wanted(),
            target == null ? "" : target.mark());
      }
    }
    if (!table.isEmpty()) {
      out.append('\n').append(title).append('\n').append(table.render());
    }
  }

  /** Returns the report as values that {@link Json} writes. */
  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("format", "talaria-bench-ucx-1");
    json.put("environment", machine);
    json.put("ucx", ucx);
    json.put("options", options);
    json.put("targetsMissed", missed());
    json.put("measures", results.rows().stream().map(this::json).toList());
    return json;
  }

  private Map<String, Object> json(Row row) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", row.what().id());
    json.put("operation", row.what().operation().word());
    json.put("kind", row.what().kind().word());
    json.put("sizeBytes", row.what().sizeBytes());
    json.put("threads", row.what().threads());
    json.put("unit", row.what().quantity().unit());
    json.put("talaria", row.talaria());
    json.put("ucxPerftest", row.baseline());
    json.put("ratio", row.ratio());
    json.put("target", row.target());
    json.put("rounds", results.rounds().get(row.what()).stream().map(UcxReport::json).toList());
    return json;
  }

  /** In nanoseconds, or operations a second. */
  private static Map<String, Object> json(Round round) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("talaria", round.talaria());
    json.put("iterations", round.iterations());
    json.put("ucxPerftestBefore", Json.number(round.before()));
    json.put("ucxPerftestAfter", Json.number(round.after()));
    return json;
  }
}
