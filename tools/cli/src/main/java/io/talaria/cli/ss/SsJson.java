// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.cli.ss.snapshot.State;
import io.talaria.cli.ss.snapshot.Summary;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Reason;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The table for machines: plain maps and lists, whose names do not change. docs/seeing.md describes
 * each.
 */
final class SsJson {
  private static final String FORMAT = "talaria-ss-2";

  private SsJson() {}

  /**
   * A snapshot as maps and lists.
   *
   * @param rates what happened since the one before, or null
   */
  static Map<String, Object> tree(Snapshot snapshot, Rates rates) {
    // The first of several: there is none before it.
    Rates known = rates == null || rates.seconds() <= 0 ? null : rates;
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("format", FORMAT);
    tree.put("dir", snapshot.dir().toString());
    tree.put("at", Instant.ofEpochMilli(snapshot.atMs()).toString());
    tree.put("seconds", known == null ? null : known.seconds());
    tree.put("summary", summary(new Summary(snapshot, known), known != null));
    tree.put(
        "processes", snapshot.processes().stream().map(entry -> process(entry, known)).toList());
    tree.put("problems", snapshot.problems());
    return tree;
  }

  private static Map<String, Object> summary(Summary summary, boolean withRates) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("processes", summary.processes());
    tree.put("listeners", summary.listeners());
    tree.put("connections", summary.connections());
    Map<String, Long> transports = new LinkedHashMap<>();
    summary.transports().forEach((transport, number) -> transports.put(transport.code(), number));
    tree.put("transports", transports);
    tree.put("inBytes", summary.inBytes());
    tree.put("outBytes", summary.outBytes());
    tree.put("inBytesPerSecond", withRates ? summary.inRate() : null);
    tree.put("outBytesPerSecond", withRates ? summary.outRate() : null);
    tree.put("stallsPerSecond", withRates ? summary.stallRate() : null);
    return tree;
  }

  private static Map<String, Object> process(Snapshot.Entry entry, Rates rates) {
    ProcessInfo process = entry.process();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("pid", process.pid());
    tree.put("program", process.program());
    tree.put("command", process.command());
    tree.put("talaria", process.talariaVersion());
    tree.put("java", process.javaVersion());
    tree.put("since", Instant.ofEpochMilli(process.openedAtMs()).toString());
    tree.put("liveness", process.liveness().name().toLowerCase(Locale.ROOT));
    tree.put("totals", totals(process.totals()));
    tree.put(
        "connections",
        entry.connections().stream()
            .map(connection -> connection(new Snapshot.Line(process, connection), rates))
            .toList());
    tree.put("unlisted", process.unlisted());
    tree.put("damaged", process.damaged());
    return tree;
  }

  private static Map<String, Object> connection(Snapshot.Line line, Rates rates) {
    ConnectionInfo connection = line.connection();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("id", connection.id());
    tree.put("role", connection.role().code());
    tree.put("local", address(connection.local()));
    tree.put("remote", address(connection.remote()));
    tree.put("transport", connection.transport().code());
    tree.put("reason", connection.reason().code());
    tree.put("state", State.of(connection).code());
    tree.put("detail", connection.detail());
    tree.put("openedAt", Instant.ofEpochMilli(connection.openedAtMs()).toString());
    tree.put("inBytes", connection.inBytes());
    tree.put("outBytes", connection.outBytes());
    tree.put("acceleratedInBytes", connection.acceleratedInBytes());
    tree.put("acceleratedOutBytes", connection.acceleratedOutBytes());
    tree.put("tcpInBytes", connection.tcpInBytes());
    tree.put("tcpOutBytes", connection.tcpOutBytes());
    tree.put("reads", connection.reads());
    tree.put("writes", connection.writes());
    tree.put("stalls", connection.stalls());
    tree.put("wakeupsSent", connection.wakeupsSent());
    tree.put("wakeupsReceived", connection.wakeupsReceived());
    tree.put("sleeps", connection.sleeps());
    tree.put("ringInBytes", connection.ringInBytes());
    tree.put("ringOutBytes", connection.ringOutBytes());
    tree.put("inBytesPerSecond", rates == null ? null : rates.in(line));
    tree.put("outBytesPerSecond", rates == null ? null : rates.out(line));
    tree.put("readsPerSecond", rates == null ? null : rates.reads(line));
    tree.put("writesPerSecond", rates == null ? null : rates.writes(line));
    tree.put("stallsPerSecond", rates == null ? null : rates.stalls(line));
    return tree;
  }

  private static String address(InetSocketAddress address) {
    return address == null ? null : Show.address(address);
  }

  private static Map<String, Object> totals(ProcessTotals totals) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("listeners", totals.listeners());
    tree.put("connections", totals.connections());
    tree.put("opened", totals.opened());
    tree.put("closed", totals.closed());
    tree.put("offersMade", totals.offersMade());
    tree.put("offersReceived", totals.offersReceived());
    tree.put("acceptedByPeer", totals.acceptedByPeer());
    tree.put("acceptedByUs", totals.acceptedByUs());
    Map<String, Long> refused = new TreeMap<>();
    for (Map.Entry<Reason, Long> entry : totals.refused().entrySet()) {
      refused.put(entry.getKey().code(), entry.getValue());
    }
    tree.put("refused", refused);
    tree.put("sessions", totals.sessions());
    tree.put("sessionsOpened", totals.sessionsOpened());
    tree.put("selectors", totals.selectors().open());
    tree.put("selects", totals.selectors().selects());
    tree.put("innerSelects", totals.selectors().innerSelects());
    tree.put("wakeUps", totals.selectors().wakeUps());
    tree.put("acceleratedInBytes", totals.acceleratedInBytes());
    tree.put("acceleratedOutBytes", totals.acceleratedOutBytes());
    tree.put("tcpInBytes", totals.tcpInBytes());
    tree.put("tcpOutBytes", totals.tcpOutBytes());
    tree.put("reads", totals.reads());
    tree.put("writes", totals.writes());
    tree.put("stalls", totals.stalls());
    tree.put("wakeupsSent", totals.wakeupsSent());
    tree.put("wakeupsReceived", totals.wakeupsReceived());
    tree.put("sleeps", totals.sleeps());
    tree.put("wakeupsMissed", totals.wakeupsMissed());
    return tree;
  }
}
