// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.NodeCounters;
import io.talaria.messaging.counters.NodeFile;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.transport.RingPair;
import io.talaria.nio.process.Host;
import java.util.Collection;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Formats the line of JSON in a node's counters file, whose fields docs/layouts.md describes. For
 * the conductor.
 */
final class PublishedState {
  private static final int VERSION = 2;
  private static final int UNIT_SHIFT = 3;

  private PublishedState() {}

  static String line(
      LocalNode node, Collection<Connection> connections, ToLongFunction<Connection> silentNs) {
    NodeCounters counters = node.counters();
    StringBuilder to = new StringBuilder(512);
    to.append("{\"talariaMessages\":").append(VERSION);
    number(to, "pid", Host.pid());
    to.append(',').append(NodeFile.namespace());
    text(to, "cluster", node.options().cluster());
    number(to, "node", node.id());
    number(to, "port", node.port());
    number(to, "connected", counters.connected());
    number(to, "lost", counters.lost());
    number(to, "received", counters.received());
    number(to, "dropped", counters.dropped());
    number(to, "failed", counters.failed());
    number(to, "late", counters.lateResponses());
    number(to, "unanswered", counters.unanswered());
    number(to, "stalled", counters.stalled());
    number(to, "openRequests", counters.openRequests());
    to.append(",\"peers\":[");
    Map<Connection, Integer> openRequests = node.responseSlots().openByConnection();
    boolean first = true;
    for (Connection each : connections) {
      if (!each.dead()) {
        to.append(first ? "" : ",");
        first = false;
        peer(to, each, openRequests.getOrDefault(each, 0), silentNs.applyAsLong(each));
      }
    }
    return to.append("]}").toString();
  }

  private static void peer(StringBuilder to, Connection on, int openRequests, long silentNs) {
    to.append("{\"peer\":").append(on.peer.id());
    text(to, "transport", on.link().transport());
    text(to, "reason", on.link().reason());
    text(
        to,
        "state",
        on.closing().leaving || on.sendingEnded()
            ? "leaving"
            : silentNs > ConnectionTable.SUSPECT_NS ? "suspect" : "connected");
    number(to, "number", on.number);
    try {
      number(to, "outBytes", on.sender().end() << UNIT_SHIFT);
      number(to, "deliveredBytes", on.link().out(RingPair.DATA).delivered() << UNIT_SHIFT);
      number(to, "inBytes", on.link().in(RingPair.DATA).delivered() << UNIT_SHIFT);
      number(to, "unconsumedBytes", on.sender().unconsumedBytes());
      number(to, "dataRingBytes", on.link().out(RingPair.DATA).capacity());
    } catch (IllegalStateException e) {
      // The rings were unmapped meanwhile: leave the fields out.
    }
    number(to, "openRequests", openRequests);
    number(to, "waiting", on.peer.waiting());
    number(to, "silentMs", silentNs > ConnectionTable.SUSPECT_NS ? silentNs / 1_000_000 : 0);
    to.append('}');
  }

  private static void number(StringBuilder to, String name, long value) {
    to.append(",\"").append(name).append("\":").append(value);
  }

  private static void text(StringBuilder to, String name, String value) {
    to.append(",\"").append(name).append("\":").append(NodeFile.quoted(value));
  }
}
