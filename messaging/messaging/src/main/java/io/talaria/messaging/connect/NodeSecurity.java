// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.handshake.NodeHandshake;
import io.talaria.nio.authentication.HostKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/** With whom a node talks by TCP, by its options. */
final class NodeSecurity {
  private final byte[] key;
  private final boolean insecure;
  private final boolean encrypted;

  /**
   * Reads the key.
   *
   * @throws IOException if the key cannot be read
   * @throws IllegalArgumentException if the options contradict each other
   */
  NodeSecurity(NodeOptions options) throws IOException {
    key = options.key() == null ? null : HostKey.read(options.key());
    insecure = options.isInsecure();
    encrypted = options.isEncrypted();
    if (encrypted && key == null) {
      throw new IllegalArgumentException("encrypted() needs a key: call NodeOptions.key");
    }
  }

  /** Whether bytes by TCP are encrypted. */
  boolean encrypted() {
    return encrypted;
  }

  /** Whether a session with this address is allowed. */
  boolean allows(InetSocketAddress address) {
    return key != null || insecure || address.getAddress().isLoopbackAddress();
  }

  /** Why network transports are not used on sessions by TCP, or null if they are. */
  String networkRefusal() {
    if (encrypted) {
      return "what it carries is not encrypted";
    }
    // UCX parses addresses and trusts them; with verbs anybody could take registered memory.
    return key == null && !insecure ? "there is no key" : null;
  }

  /**
   * Begins a handshake; a local one needs no proof, since the kernel names the peer's user.
   *
   * @param channel connected, non-blocking
   */
  NodeHandshake begin(SocketChannel channel, boolean dialled, boolean local) throws IOException {
    return new NodeHandshake(channel, dialled, local ? null : key, encrypted);
  }
}
