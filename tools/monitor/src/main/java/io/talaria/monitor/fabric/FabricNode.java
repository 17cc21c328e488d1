// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import java.util.List;

/**
 * A node of the fabric.
 *
 * @param guid its GUID, 16 hexadecimal digits
 * @param type what it is
 * @param description what it says of itself, made harmless; its GUID if it says nothing
 * @param ports its ports, by number
 */
public record FabricNode(String guid, NodeType type, String description, List<FabricPort> ports) {
  /** Copies the list. */
  public FabricNode {
    ports = List.copyOf(ports);
  }
}
