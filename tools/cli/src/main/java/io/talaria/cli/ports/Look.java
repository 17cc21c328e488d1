// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import io.talaria.monitor.Reading;
import io.talaria.monitor.fabric.Topology;
import java.util.List;
import java.util.Objects;

/**
 * What the ports said at one moment.
 *
 * @param atMs when, milliseconds since 1970
 * @param lines the ports that the user wants to see
 * @param leftOut how many more there are
 * @param topology the fabric, or null if it is this host's ports
 * @param problem why the fabric cannot be queried at this moment; else empty
 */
public record Look(
    long atMs, List<PortLine> lines, int leftOut, Topology topology, String problem) {
  /** Copies the list. */
  public Look {
    lines = List.copyOf(lines);
  }

  /** The readings of the ports that responded. */
  List<Reading> readings() {
    return lines.stream().map(PortLine::reading).filter(Objects::nonNull).toList();
  }
}
