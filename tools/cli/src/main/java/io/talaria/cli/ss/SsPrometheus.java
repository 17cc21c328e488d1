// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.monitor.PrometheusWriter;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * The table for Prometheus: open connections counted by role, transport and reason, and what each
 * process has done in all. No single connection, of which there may be thousands that come and go.
 * docs/seeing.md describes each metric.
 */
final class SsPrometheus {
  private static final String GAUGE = "gauge";
  private static final String COUNTER = "counter";

  private final PrometheusWriter out = new PrometheusWriter();
  private final Snapshot snapshot;

  private SsPrometheus(Snapshot snapshot) {
    this.snapshot = snapshot;
  }

  static String of(Snapshot snapshot) {
    return new SsPrometheus(snapshot).text();
  }

  private String text() {
    info();
    connections();
    refused();
    total("opened", "Connections and listeners opened.", ProcessTotals::opened);
    total("closed", "Connections and listeners closed.", ProcessTotals::closed);
    bytes(
        "read_bytes",
        "Bytes that the program has read.",
        ProcessTotals::acceleratedInBytes,
        ProcessTotals::tcpInBytes);
    bytes(
        "written_bytes",
        "Bytes that the program has written.",
        ProcessTotals::acceleratedOutBytes,
        ProcessTotals::tcpOutBytes);
    total("reads", "Reads that gave bytes.", ProcessTotals::reads);
    total("writes", "Writes that took bytes.", ProcessTotals::writes);
    total("stalls", "Writes that found no space.", ProcessTotals::stalls);
    total("wakeups_sent", "Wake-ups sent to sleeping peers.", ProcessTotals::wakeupsSent);
    total("wakeups_received", "Wake-ups received.", ProcessTotals::wakeupsReceived);
    total("sleeps", "Sleeps of threads that waited for a connection.", ProcessTotals::sleeps);
    out.head("talaria_unreadable_files", GAUGE, "Counters files that could not be read.");
    out.sample("talaria_unreadable_files")
        .label("dir", snapshot.dir().toString())
        .value(snapshot.problems().size());
    return out.text();
  }

  private void info() {
    out.head("talaria_process_info", GAUGE, "A process with Talaria; always 1.");
    for (Snapshot.Entry entry : snapshot.processes()) {
      sample("talaria_process_info", entry)
          .label("talaria", entry.process().talariaVersion())
          .label("java", entry.process().javaVersion())
          .value(1);
    }
  }

  private void connections() {
    String metric = "talaria_connections";
    out.head(metric, GAUGE, "Open connections and listeners, by role, transport and reason.");
    for (Snapshot.Entry entry : snapshot.processes()) {
      Map<String, Integer> counts = new TreeMap<>();
      Map<String, ConnectionInfo> examples = new TreeMap<>();
      for (ConnectionInfo connection : entry.connections()) {
        String kind =
            connection.role().code()
                + ' '
                + connection.transport().code()
                + ' '
                + connection.reason().code();
        counts.merge(kind, 1, Integer::sum);
        examples.put(kind, connection);
      }
      counts.forEach(
          (kind, count) -> {
            ConnectionInfo connection = examples.get(kind);
            sample(metric, entry)
                .label("role", connection.role().code())
                .label("transport", connection.transport().code())
                .label("reason", connection.reason().code())
                .value(count);
          });
    }
  }

  private void refused() {
    String metric = "talaria_refused_total";
    out.head(metric, COUNTER, "Upgrades that did not come about, by reason.");
    for (Snapshot.Entry entry : snapshot.processes()) {
      entry
          .process()
          .totals()
          .refused()
          .forEach(
              (reason, count) -> sample(metric, entry).label("reason", reason.code()).value(count));
    }
  }

  private void total(String what, String help, ToLongFunction<ProcessTotals> value) {
    String metric = "talaria_" + what + "_total";
    out.head(metric, COUNTER, help);
    for (Snapshot.Entry entry : snapshot.processes()) {
      sample(metric, entry).value(value.applyAsLong(entry.process().totals()));
    }
  }

  private void bytes(
      String what,
      String help,
      ToLongFunction<ProcessTotals> accelerated,
      ToLongFunction<ProcessTotals> onTcp) {
    String metric = "talaria_" + what + "_total";
    out.head(metric, COUNTER, help);
    for (Snapshot.Entry entry : snapshot.processes()) {
      ProcessTotals totals = entry.process().totals();
      sample(metric, entry)
          .label("transport", "accelerated")
          .value(accelerated.applyAsLong(totals));
      sample(metric, entry).label("transport", "tcp").value(onTcp.applyAsLong(totals));
    }
  }

  private PrometheusWriter sample(String metric, Snapshot.Entry entry) {
    ProcessInfo process = entry.process();
    PrometheusWriter sample =
        out.sample(metric)
            .label("pid", Long.toString(process.pid()))
            .label("program", process.program());
    // In containers that share a directory, processes may have the same id and program.
    return SsTable.foreign(process)
        ? sample
            .label("pid_namespace", Long.toUnsignedString(process.pidNamespace()))
            .label("start_ticks", Long.toString(process.startTicks()))
        : sample;
  }
}
