// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import java.util.List;

/**
 * A port as it was when it was last looked at. Immutable.
 *
 * @param id its name
 * @param layer what kind of link it has
 * @param state its logical state
 * @param physicalState its physical state in the kernel's words, such as {@code LinkUp}; empty if
 *     unknown
 * @param lid its local identifier in an InfiniBand subnet; 0 if it has none
 * @param rate how fast the link is
 * @param guid the GUID of the device or node, or the hardware address of an interface; empty if
 *     unknown
 * @param gid the GID that others reach it by; empty if it has none
 * @param netDevices the network interfaces on it
 * @param virtual whether it is an interface without a device whose state the kernel does not know:
 *     loopback, a dummy, a tunnel
 */
public record Port(
    PortId id,
    LinkLayer layer,
    PortState state,
    String physicalState,
    int lid,
    LinkRate rate,
    String guid,
    String gid,
    List<String> netDevices,
    boolean virtual) {

  /** Copies the list. */
  public Port {
    netDevices = List.copyOf(netDevices);
  }

  /**
   * Whether it is a port of another node of the fabric, queried by messages.
   *
   * @return whether it has no place in {@code /sys}
   */
  public boolean remote() {
    return !id.nodeGuid().isEmpty();
  }
}
