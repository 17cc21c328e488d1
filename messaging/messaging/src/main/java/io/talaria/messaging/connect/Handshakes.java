// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.HandshakeMessage.Forms;
import io.talaria.messaging.handshake.HandshakeMessage.Offer;
import io.talaria.messaging.handshake.HandshakeMessage.Welcome;
import io.talaria.messaging.transport.Link;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The handshakes under way: moves their bytes, gives them up after 5 s, and makes a connection of
 * each that succeeds. No step blocks. Conductor's thread.
 */
final class Handshakes {
  private static final long TIMEOUT_NS = 5_000_000_000L;

  /** Of peers that have proved nothing yet, so that they cannot take all descriptors. */
  private static final int MAX_STRANGERS = 64;

  private final Selector selector;
  private final Timers timers;
  private final NodeSecurity security;
  private final TransportChoice transports;
  private final PeerStates peers;
  private final ConnectionTable connections;
  private final Set<PendingHandshake> pending = new LinkedHashSet<>();

  Handshakes(
      Selector selector,
      Timers timers,
      NodeSecurity security,
      TransportChoice transports,
      PeerStates peers,
      ConnectionTable connections) {
    this.selector = selector;
    this.timers = timers;
    this.security = security;
    this.transports = transports;
    this.peers = peers;
    this.connections = connections;
  }

  /** Whether it is still under way. */
  boolean contains(PendingHandshake handshake) {
    return pending.contains(handshake);
  }

  /** Takes a new one; its channel is connected, or connecting. */
  void begin(PendingHandshake handshake) throws IOException {
    boolean connecting = handshake.state == PendingHandshake.State.CONNECTING;
    if (!connecting) {
      handshake.bytes = security.begin(handshake.channel, handshake.dialled(), handshake.local);
    }
    register(handshake, connecting ? SelectionKey.OP_CONNECT : SelectionKey.OP_READ);
    if (handshake.state == PendingHandshake.State.PROVING) {
      proceed(handshake);
    }
  }

  private void register(PendingHandshake handshake, int interest) throws IOException {
    if (handshake.stranger()) {
      List<PendingHandshake> strangers =
          pending.stream().filter(PendingHandshake::stranger).toList();
      if (strangers.size() >= MAX_STRANGERS) {
        end(strangers.getFirst(), "too many handshakes at a time");
      }
    }
    long deadline = System.nanoTime() + TIMEOUT_NS;
    handshake.deadlineNs = deadline;
    pending.add(handshake);
    handshake.channel.register(selector, interest, handshake);
    timers.at(deadline, () -> expired(handshake, deadline));
  }

  /** Reads once more first: perhaps this thread is late, and not the peer. */
  private void expired(PendingHandshake handshake, long deadlineNs) {
    if (pending.contains(handshake) && handshake.deadlineNs == deadlineNs) {
      try {
        step(handshake);
      } finally {
        if (handshake.deadlineNs == deadlineNs) {
          end(handshake, "no response within 5 s");
        }
      }
    }
  }

  /** Its channel is ready. */
  void step(PendingHandshake handshake) {
    try {
      if (handshake.state == PendingHandshake.State.CONNECTING) {
        finishConnect(handshake);
        return;
      }
      boolean more = true;
      while (more && pending.contains(handshake)) {
        more = handshake.bytes.fill();
        if (!handshake.bytes.prove()) {
          flush(handshake);
          continue;
        }
        if (handshake.state == PendingHandshake.State.PROVING) {
          proceed(handshake);
        }
        ByteBuffer frame = handshake.bytes.frame();
        if (frame != null) {
          more = true;
          handshake.side.frame(handshake, frame.get(), frame);
        }
      }
      if (pending.contains(handshake)) {
        flush(handshake);
      }
    } catch (Throwable e) {
      end(handshake, peers.why(handshake.peer, e));
    }
  }

  private void finishConnect(PendingHandshake handshake) throws IOException {
    try {
      if (!handshake.channel.finishConnect()) {
        return;
      }
    } catch (IOException e) {
      throw new IOException(
          handshake.peer.peer
              + " at "
              + PendingHandshake.text(handshake.address)
              + ": "
              + e.getMessage(),
          e);
    }
    handshake.state = PendingHandshake.State.PROVING;
    begin(handshake); // with a time of its own
  }

  private void proceed(PendingHandshake handshake) throws IOException {
    if (handshake.bytes.proved()) {
      handshake.side.proved(handshake);
    }
    flush(handshake);
  }

  /**
   * Sends what is queued, now or when there is room. READY is the last frame of the side that
   * dialled, and may be longer than what the socket takes at once: then makes the connection.
   */
  void flush(PendingHandshake handshake) throws IOException {
    boolean all = handshake.bytes.flush();
    if (all && handshake.state == PendingHandshake.State.READY_BEGUN) {
      Welcome welcome = handshake.welcome;
      establish(handshake, welcome.incarnation(), welcome.offer(), welcome.forms());
      return;
    }
    SelectionKey registered = handshake.channel.keyFor(selector);
    if (registered != null && registered.isValid()) {
      registered.interestOps(
          all ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  /**
   * Both sides agree: makes the connection.
   *
   * @param incarnation of the other process
   */
  void establish(PendingHandshake handshake, long incarnation, Offer theirs, Forms forms) {
    PeerState peer = handshake.peer;
    leave(handshake);
    try {
      if (peer.pairing.established(handshake.number, incarnation)) {
        Connection connection =
            connections.create(peer, handshake.number, incarnation, theirs, forms);
        Link link = transports.link(handshake, connection, theirs);
        connections.start(connection, link, peer);
        return;
      }
    } catch (Throwable e) {
      peer.pairing.ended(handshake.number);
      peers.unreachable(peer, Code.UNREACHABLE, peers.why(peer, e));
    }
    close(handshake);
    transports.release(handshake);
  }

  private void leave(PendingHandshake handshake) {
    pending.remove(handshake);
    SelectionKey registered = handshake.channel.keyFor(selector);
    if (registered != null) {
      registered.cancel();
    }
    handshake.peer.accepting = null;
    if (handshake.peer.dial == handshake) {
      handshake.peer.dial = null;
      handshake.peer.pairing.dialEnded();
    }
  }

  /**
   * Gives one up; nothing if it is over.
   *
   * @param why for people, or null if it is expected
   */
  void end(PendingHandshake handshake, String why) {
    if (pending.remove(handshake)) {
      close(handshake);
      transports.release(handshake);
      handshake.side.failed(handshake, why);
    }
  }

  /** Gives all up. */
  void endAll() {
    List.copyOf(pending).forEach(each -> end(each, null));
  }

  private static void close(PendingHandshake handshake) {
    try {
      handshake.channel.close();
    } catch (IOException e) {
      // The descriptor is released all the same.
    }
  }
}
