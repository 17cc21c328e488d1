// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.math.BigInteger;
import java.util.List;

/**
 * Readings in the text format 0.0.4 of Prometheus. Counters are given as the port has them, in
 * bytes where they are of data; what a reset means is left to Prometheus.
 */
public final class PrometheusText {
  private PrometheusText() {}

  /**
   * Writes readings down.
   *
   * @param readings of all ports
   * @return the text, each line ended by a line feed
   */
  public static String of(List<Reading> readings) {
    PrometheusWriter out = new PrometheusWriter();
    out.head("talaria_port_info", "gauge", "What the port is; always 1.");
    for (Reading reading : readings) {
      Port port = reading.port();
      name(out, "talaria_port_info", port);
      out.label("state", port.state().code());
      out.label("rate", port.rate().text());
      out.label("netdev", String.join(",", port.netDevices()));
      out.label("guid", port.guid());
      out.value(BigInteger.ONE);
    }
    out.head("talaria_port_active", "gauge", "1 if the port is active, else 0.");
    for (Reading reading : readings) {
      name(out, "talaria_port_active", reading.port());
      boolean active = reading.port().state() == PortState.ACTIVE;
      out.value(active ? BigInteger.ONE : BigInteger.ZERO);
    }
    out.head(
        "talaria_port_rate_bits_per_second",
        "gauge",
        "The rate of the link in one direction; left out if it is not known.");
    for (Reading reading : readings) {
      if (reading.port().rate().bitsPerSecond() > 0) {
        name(out, "talaria_port_rate_bits_per_second", reading.port());
        out.value(BigInteger.valueOf(reading.port().rate().bitsPerSecond()));
      }
    }
    traffic(out, readings, "transmit_bytes", CounterKind.DATA, Traffic.SENT, "Bytes sent.");
    traffic(out, readings, "receive_bytes", CounterKind.DATA, Traffic.RECEIVED, "Bytes received.");
    traffic(out, readings, "transmit_packets", CounterKind.PACKETS, Traffic.SENT, "Packets sent.");
    traffic(
        out,
        readings,
        "receive_packets",
        CounterKind.PACKETS,
        Traffic.RECEIVED,
        "Packets received.");
    kind(
        out,
        readings,
        "talaria_port_errors_total",
        "counter",
        CounterKind.ERRORS,
        "What should not happen, by counter; parts of another counter have part=\"1\".");
    kind(
        out,
        readings,
        "talaria_port_congestion_total",
        "counter",
        CounterKind.CONGESTION,
        "Waiting and its signs, by counter.");
    kind(
        out,
        readings,
        "talaria_port_other",
        "untyped",
        CounterKind.OTHER,
        "Other counters of the port.");
    return out.text();
  }

  private static void traffic(
      PrometheusWriter out,
      List<Reading> readings,
      String what,
      CounterKind kind,
      Traffic traffic,
      String help) {
    String metric = "talaria_port_" + what + "_total";
    out.head(metric, "counter", help);
    for (Reading reading : readings) {
      int index = reading.indexOf(kind, traffic);
      if (index >= 0) {
        name(out, metric, reading.port());
        out.value(reading.total(index));
      }
    }
  }

  private static void kind(
      PrometheusWriter out,
      List<Reading> readings,
      String metric,
      String type,
      CounterKind kind,
      String help) {
    out.head(metric, type, help);
    for (Reading reading : readings) {
      for (int i = 0; i < reading.counters().size(); i++) {
        Counter counter = reading.counters().get(i);
        if (counter.kind() == kind && reading.known(i)) {
          name(out, metric, reading.port());
          out.label("counter", counter.name());
          out.label("source", counter.source().code());
          if (counter.part()) {
            out.label("part", "1");
          }
          out.value(reading.total(i));
        }
      }
    }
  }

  private static void name(PrometheusWriter out, String metric, Port port) {
    out.sample(metric);
    out.label("device", port.id().device());
    out.label("port", Integer.toString(port.id().number()));
    out.label("layer", port.layer().code());
    if (port.remote()) {
      out.label("node_guid", port.id().nodeGuid());
    }
  }
}
