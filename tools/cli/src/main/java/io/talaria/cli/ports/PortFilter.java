// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.monitor.Port;
import java.util.List;
import java.util.Locale;

/**
 * Which ports the user wants to see.
 *
 * @param names devices, interfaces, nodes, or ports as DEVICE/NUMBER; none for all
 * @param all whether loopback, dummies and tunnels are wanted, and ports of a fabric without a link
 */
public record PortFilter(List<String> names, boolean all) {
  /** Copies the list. */
  public PortFilter {
    names = List.copyOf(names);
  }

  /** Whether a port is wanted; one that is named always is. */
  boolean wants(Port port, boolean connected) {
    return names.isEmpty()
        ? all || (connected && !port.virtual())
        : names.stream().anyMatch(name -> names(name, port));
  }

  /** Whether a name is one of a port's. */
  static boolean names(String name, Port port) {
    return name.equals(port.id().device())
        || name.equals(port.id().toString())
        || (port.remote() && name.toLowerCase(Locale.ROOT).equals(port.id().nodeGuid()));
  }
}
