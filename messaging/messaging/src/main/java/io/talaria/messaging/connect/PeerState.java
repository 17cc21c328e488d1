// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.Pairing;
import io.talaria.messaging.node.RemotePeer;
import java.net.InetSocketAddress;

/** What the conductor knows of another node. Conductor's thread. */
final class PeerState {
  static final long FIRST_RETRY_NS = 100_000_000L;

  final RemotePeer peer;
  final Pairing pairing;

  /** Whether a connection is wanted that is not there. */
  boolean wanted;

  /** Not dialled again before this time, as of {@link System#nanoTime}. */
  long retryNs;

  /** Added to the time of the next retry; doubles with each failure. */
  long backoffNs = FIRST_RETRY_NS;

  /** Whether listeners know that it is unreachable; once until it is connected. */
  boolean toldUnreachable;

  /** Whether its host name is being looked up. */
  boolean resolving;

  /** The address that was looked up, while it is dialled. */
  InetSocketAddress resolved;

  /** The own attempt, or null. */
  PendingHandshake dial;

  /** The other's attempt that was answered with WELCOME and is not ready yet, or null. */
  PendingHandshake accepting;

  /** The last connection that was severed or replaced, while its messages may wait; or null. */
  Connection severed;

  PeerState(RemotePeer peer, Pairing pairing) {
    this.peer = peer;
    this.pairing = pairing;
  }
}
