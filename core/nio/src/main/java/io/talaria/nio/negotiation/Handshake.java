// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.process.Host;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import java.nio.ByteBuffer;

/** What the two sides of a {@link Session} tell each other first, and what may stand there. */
final class Handshake {
  private Handshake() {}

  /** What this side says when it dials. */
  static ByteBuffer hello(TransportProvider transport, boolean shares, ByteBuffer payload) {
    return Wire.hello(
        new Hello(
            Wire.VERSION,
            Host.pid(),
            Host.bootId(),
            Host.networkNamespace(),
            shares,
            transport.name(),
            payload));
  }

  /**
   * The transport that a peer has dialled for.
   *
   * @param link of a session between hosts, or null
   * @param shares whether this side shares memory with other network namespaces
   * @throws TransportException if there is none for that peer, with the reason that it is told
   */
  static TransportProvider transport(
      Hello hello, SessionLink link, boolean shares, LocalTransports transports)
      throws TransportException {
    if (hello.version() != Wire.VERSION) {
      throw rejected(Reason.VERSION_MISMATCH, "version " + hello.version());
    }
    if (link != null) {
      return known(link.transport(hello.transport()), Reason.NO_UCX, hello);
    }
    if (!hello.bootId().equals(Host.bootId())) {
      throw rejected(Reason.OTHER_BOOT, "boot " + hello.bootId());
    }
    TransportProvider transport = transports.usable(hello.transport());
    if (across(hello) && !(shares && hello.shares() && mayGoAcross(hello, transport))) {
      throw rejected(Reason.OTHER_NAMESPACE, "network " + hello.networkNamespace());
    }
    return known(transport, Reason.REFUSED, hello);
  }

  /** Whether the peer is in another network namespace of this host. */
  static boolean across(Hello hello) {
    return !hello.networkNamespace().equals(Host.networkNamespace());
  }

  private static boolean mayGoAcross(Hello hello, TransportProvider transport) {
    return !hello.networkNamespace().isEmpty()
        && !Host.networkNamespace().isEmpty()
        && (transport == null || transport.joinsNamespaces());
  }

  private static TransportProvider known(TransportProvider transport, Reason unknown, Hello hello)
      throws TransportException {
    if (transport == null) {
      throw rejected(unknown, "transport " + hello.transport());
    }
    return transport;
  }

  private static TransportException rejected(Reason reason, String what) {
    return new TransportException(reason, "the peer has sent a handshake with " + what);
  }

  /** A peer names files of its own process only, so it must have said which that is. */
  static long known(long pid) throws MalformedFrameException {
    if (pid <= 0) {
      throw new MalformedFrameException("process id " + pid);
    }
    return pid;
  }
}
