// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Whom to call, and from which address, so that both connections go the same way.
 *
 * @param from the client's own address
 * @param to the server's rendezvous port
 */
record RendezvousAddress(InetAddress from, InetSocketAddress to) {
  /** As the key of a session: no announcement on this host has such a name. */
  String name() {
    return "host " + from.getHostAddress() + ' ' + this;
  }

  @Override
  public String toString() {
    return to.getAddress().getHostAddress() + ":" + to.getPort();
  }
}
