// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.cli.harness.Json;
import io.talaria.monitor.Change;
import io.talaria.monitor.Counter;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.Port;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Rates;
import io.talaria.monitor.Reading;
import io.talaria.monitor.Traffic;
import io.talaria.monitor.fabric.FabricNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Ports for machines. docs/monitor.md describes every name; a test compares the two. */
final class PortJson {
  /** Grows when a name changes its meaning or goes. */
  static final int VERSION = 1;

  private PortJson() {}

  static Map<String, Object> tree(Look look) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("version", VERSION);
    tree.put("at", Instant.ofEpochMilli(look.atMs()).toString());
    tree.put("problem", look.problem());
    List<Object> ports = new ArrayList<>();
    look.lines().forEach(line -> ports.add(port(line)));
    tree.put("ports", ports);
    List<Object> nodes = new ArrayList<>();
    if (look.topology() != null) {
      look.topology().nodes().forEach(node -> nodes.add(node(node)));
    }
    tree.put("nodes", nodes);
    return tree;
  }

  private static Map<String, Object> port(PortLine line) {
    Port port = line.port();
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("device", port.id().device());
    tree.put("port", port.id().number());
    tree.put("nodeGuid", orNull(port.id().nodeGuid()));
    tree.put("layer", port.layer().code());
    tree.put("state", port.state().code());
    tree.put("physicalState", orNull(port.physicalState()));
    tree.put("lid", port.lid());
    tree.put("rate", orNull(port.rate().text()));
    tree.put("bitsPerSecond", port.rate().bitsPerSecond());
    tree.put("lanes", port.rate().lanes());
    tree.put("guid", orNull(port.guid()));
    tree.put("gid", orNull(port.gid()));
    tree.put("netDevices", port.netDevices());
    tree.put("peer", line.peer() == null ? null : peer(line.peer()));
    tree.put("problem", line.problem());
    tree.put("traffic", traffic(line.rates()));
    List<Object> counters = new ArrayList<>();
    for (int i = 0; line.rates() != null && i < line.reading().counters().size(); i++) {
      counters.add(counter(line.rates(), i));
    }
    tree.put("counters", counters);
    return tree;
  }

  private static Map<String, Object> peer(PortId peer) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("device", peer.device());
    tree.put("port", peer.number());
    tree.put("nodeGuid", peer.nodeGuid());
    return tree;
  }

  private static Map<String, Object> traffic(Rates rates) {
    Map<String, Object> tree = new LinkedHashMap<>();
    put(tree, "receivedBytes", rates, CounterKind.DATA, Traffic.RECEIVED);
    put(tree, "sentBytes", rates, CounterKind.DATA, Traffic.SENT);
    put(tree, "receivedPackets", rates, CounterKind.PACKETS, Traffic.RECEIVED);
    put(tree, "sentPackets", rates, CounterKind.PACKETS, Traffic.SENT);
    return tree;
  }

  private static void put(
      Map<String, Object> tree, String name, Rates rates, CounterKind kind, Traffic traffic) {
    int index = rates == null ? -1 : rates.reading().indexOf(kind, traffic);
    tree.put(name, index < 0 ? null : rates.reading().total(index));
    tree.put(name + "PerSecond", index < 0 ? null : perSecond(rates, index));
  }

  private static Double perSecond(Rates rates, int index) {
    double rate = rates.perSecond(index);
    return rate < 0 ? null : Json.number(rate);
  }

  private static Map<String, Object> counter(Rates rates, int index) {
    Reading reading = rates.reading();
    Counter counter = reading.counters().get(index);
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", counter.name());
    tree.put("source", counter.source().code());
    tree.put("kind", counter.kind().code());
    tree.put("unit", counter.unit().code());
    tree.put("value", reading.known(index) ? reading.total(index) : null);
    tree.put("perSecond", perSecond(rates, index));
    Change change = reading.stuck(index) ? Change.STUCK : rates.change(index);
    tree.put("change", change.name().toLowerCase(Locale.ROOT));
    return tree;
  }

  private static Map<String, Object> node(FabricNode node) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guid", node.guid());
    tree.put("type", node.type().code());
    tree.put("description", node.description());
    tree.put("ports", node.ports().size());
    return tree;
  }

  private static String orNull(String text) {
    return text.isEmpty() ? null : text;
  }
}
