// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.Transport;
import io.talaria.messaging.transport.NetworkTransport;

/**
 * A network transport of a node, or why the node does without it.
 *
 * @param kind which one
 * @param bit of it in handshakes, one of {@link io.talaria.messaging.handshake.HandshakeMessage}
 * @param transport null if it is off or cannot be used
 * @param unavailableReason why {@code transport} is null; else null
 */
public record Network(
    Transport kind, int bit, NetworkTransport transport, String unavailableReason) {
  /** The name in messages and reports. */
  public String name() {
    return kind.code();
  }

  public boolean isOpen() {
    return transport != null;
  }
}
