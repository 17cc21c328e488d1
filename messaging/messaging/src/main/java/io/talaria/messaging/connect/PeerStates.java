// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.handshake.Pairing;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.node.RemotePeer;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;

/** The other nodes that the conductor has met or was asked for. Conductor's thread. */
final class PeerStates {
  private static final long MAX_RETRY_NS = 10_000_000_000L;

  private final LocalNode node;
  private final Timers timers;
  private final Map<Integer, PeerState> states = new HashMap<>();

  PeerStates(LocalNode node, Timers timers) {
    this.node = node;
    this.timers = timers;
  }

  /** The state of a node, made on first use. */
  PeerState of(int id) {
    return states.computeIfAbsent(
        id, each -> new PeerState(node.remote(each), new Pairing(node.id(), each)));
  }

  /** Records that an attempt failed, fails those who wait for it, and sets the next retry. */
  void unreachable(PeerState state, Code code, String why) {
    state.dial = null;
    RemotePeer peer = state.peer;
    peer.unreachable(new MessagingException(code, why));
    if (!state.toldUnreachable) {
      state.toldUnreachable = true;
      node.events().unreachable(peer, why);
    }
    // A little earlier by chance, so that nodes that failed together do not retry together.
    long early = state.backoffNs * (timers.added() & 7) / 32;
    state.retryNs = System.nanoTime() + state.backoffNs - early;
    state.backoffNs = Math.min(MAX_RETRY_NS, state.backoffNs * 2);
    wantedNoMore(state);
  }

  /** Forgets that a connection was wanted; threads that still wait for one ask again. */
  void wantedNoMore(PeerState state) {
    state.wanted = false;
    state.peer.requested.set(false);
    VarHandle.fullFence(); // a thread that begins to wait now sees that it must ask
    if (state.peer.hasWaiters()) {
      node.connector().want(state.peer);
    }
  }

  /**
   * The text of an exception, for people. What is not an ordinary failure goes to the log, too.
   *
   * @param state of the node it is about, or null if that is not known
   */
  String why(PeerState state, Throwable thrown) {
    if (thrown instanceof IOException && thrown.getMessage() != null) {
      return thrown.getMessage();
    }
    node.events().internal(state == null ? "handshake" : "connecting to " + state.peer, thrown);
    return (state == null ? "" : state.peer + ": ") + Thrown.text(thrown);
  }
}
