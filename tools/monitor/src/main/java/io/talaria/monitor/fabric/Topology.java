// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import java.util.List;
import java.util.stream.Stream;

/**
 * What a discovery has found. Immutable.
 *
 * @param nodes switches first, each kind by description
 * @param tookNs how long it took
 */
public record Topology(List<FabricNode> nodes, long tookNs) {
  /** Copies the list. */
  public Topology {
    nodes = List.copyOf(nodes);
  }

  /**
   * All ports.
   *
   * @return ports in the order of their nodes
   */
  public Stream<FabricPort> ports() {
    return nodes.stream().flatMap(node -> node.ports().stream());
  }

  /**
   * The ports with a link, whose counters are worth a query.
   *
   * @return ports in the order of their nodes
   */
  public List<FabricPort> connected() {
    return ports().filter(port -> port.peer() != null).toList();
  }
}
