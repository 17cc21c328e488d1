// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.nio.hosts.HostRules;
import io.talaria.nio.hosts.HostSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether the rendezvous ports of the services that rules name are free, or have been taken by
 * another program. Only looks at what listens: nothing is bound.
 */
public final class RendezvousCheck {
  private static final String NAME = "rendezvous";
  private static final int MAX_PORT = 65_535;

  /** Of rules that name more ports only those are looked at where something listens. */
  private static final int FEW_PORTS = 1000;

  private final TcpTable table;

  /** Sockets that listen, by port. */
  private final Map<Integer, TcpTable.Row> listening = new TreeMap<>();

  private RendezvousCheck(Surroundings here) {
    table = TcpTable.read(here);
    table.rows().stream()
        .filter(TcpTable.Row::listens)
        .forEach(row -> listening.put(row.local().getPort(), row));
  }

  static Finding ports(Surroundings here) {
    HostRules rules;
    try {
      rules = HostRules.read(here.hosts().rules());
    } catch (IOException e) {
      return Finding.warn(NAME, "unknown without rules", "Mend the rules first.");
    }
    return new RendezvousCheck(here)
        .judge(rules, HostSettings.of(rules, new byte[0], here.hosts().offset()));
  }

  private Finding judge(HostRules rules, HostSettings settings) {
    List<Integer> named = new ArrayList<>();
    for (int port = 1; port <= MAX_PORT; port++) {
      if (rules.listens(new InetSocketAddress(port))) {
        named.add(port);
      }
    }
    List<String> taken = new ArrayList<>();
    List<String> found = new ArrayList<>();
    for (int service : named) {
      int port = settings.rendezvousPort(service);
      if (listening.containsKey(service)) {
        if (!listening.containsKey(port)) {
          found.add(service + " has none: it runs without Talaria, or without these rules");
        } else if (ownersDiffer(service, port)) {
          taken.add(port + " (for " + service + ")");
        } else {
          found.add(service + " at " + port);
        }
      } else if (named.size() <= FEW_PORTS && listening.containsKey(port)) {
        taken.add(port + " (for " + service + ", which has no listener)");
      }
    }
    if (!taken.isEmpty()) {
      return Finding.warn(
          NAME,
          "another program has " + String.join(", ", taken),
          "Stop it, or set another talaria.rendezvous.offset, the same on both sides.");
    }
    return Finding.ok(
        NAME,
        found.isEmpty() ? "no service of a bind rule is listening now" : String.join("; ", found));
  }

  private boolean ownersDiffer(int service, int port) {
    Long one = table.owner(listening.get(service));
    Long other = table.owner(listening.get(port));
    return one != null && other != null && !one.equals(other);
  }
}
