// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.math.BigInteger;
import java.util.List;

/**
 * Readings in the text format 0.0.4 of Prometheus. Counters are given as the port has them, in
 * bytes where they are of data; what a reset means is left to Prometheus.
 */
public final class PrometheusText {
  /** What HTTP calls the format. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private PrometheusText() {}

  /**
   * Writes readings down.
   *
   * @param readings of all ports
   * @return the text, each line ended by a line feed
   */
  public static String of(List<Reading> readings) {
    StringBuilder out = new StringBuilder(1 << 14);
    head(out, "talaria_port_info", "gauge", "What the port is; always 1.");
    for (Reading reading : readings) {
      Port port = reading.port();
      name(out, "talaria_port_info", port);
      label(out, "state", port.state().code());
      label(out, "rate", port.rate().text());
      label(out, "netdev", String.join(",", port.netDevices()));
      label(out, "guid", port.guid());
      value(out, BigInteger.ONE);
    }
    head(out, "talaria_port_active", "gauge", "1 if the port is active, else 0.");
    for (Reading reading : readings) {
      name(out, "talaria_port_active", reading.port());
      boolean active = reading.port().state() == PortState.ACTIVE;
      value(out, active ? BigInteger.ONE : BigInteger.ZERO);
    }
    head(
        out,
        "talaria_port_rate_bits_per_second",
        "gauge",
        "The rate of the link in one direction; left out if it is not known.");
    for (Reading reading : readings) {
      if (reading.port().rate().bitsPerSecond() > 0) {
        name(out, "talaria_port_rate_bits_per_second", reading.port());
        value(out, BigInteger.valueOf(reading.port().rate().bitsPerSecond()));
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
        "What else the port tells, by counter.");
    return out.toString();
  }

  private static void head(StringBuilder out, String metric, String type, String help) {
    out.append("# HELP ").append(metric).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(metric).append(' ').append(type).append('\n');
  }

  private static void traffic(
      StringBuilder out,
      List<Reading> readings,
      String what,
      CounterKind kind,
      Traffic traffic,
      String help) {
    String metric = "talaria_port_" + what + "_total";
    head(out, metric, "counter", help);
    for (Reading reading : readings) {
      int index = reading.indexOf(kind, traffic);
      if (index >= 0) {
        name(out, metric, reading.port());
        value(out, reading.total(index));
      }
    }
  }

  private static void kind(
      StringBuilder out,
      List<Reading> readings,
      String metric,
      String type,
      CounterKind kind,
      String help) {
    head(out, metric, type, help);
    for (Reading reading : readings) {
      for (int i = 0; i < reading.counters().size(); i++) {
        Counter counter = reading.counters().get(i);
        if (counter.kind() == kind && reading.known(i)) {
          name(out, metric, reading.port());
          label(out, "counter", counter.name());
          label(out, "source", counter.source().code());
          if (counter.part()) {
            label(out, "part", "1");
          }
          value(out, reading.total(i));
        }
      }
    }
  }

  private static void name(StringBuilder out, String metric, Port port) {
    out.append(metric).append('{');
    label(out, "device", port.id().device());
    label(out, "port", Integer.toString(port.id().number()));
    label(out, "layer", port.layer().code());
    if (port.remote()) {
      label(out, "node_guid", port.id().nodeGuid());
    }
  }

  private static void label(StringBuilder out, String name, String value) {
    if (out.charAt(out.length() - 1) != '{') {
      out.append(',');
    }
    out.append(name).append("=\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> out.append("\\\\");
        case '"' -> out.append("\\\"");
        case '\n' -> out.append("\\n");
        default -> out.append(c);
      }
    }
    out.append('"');
  }

  private static void value(StringBuilder out, BigInteger value) {
    out.append("} ").append(value).append('\n');
  }
}
