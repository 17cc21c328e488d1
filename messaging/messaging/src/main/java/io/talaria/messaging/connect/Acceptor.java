// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.connect.PendingHandshake.State;
import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * The side of handshakes that is called: accepts channels, decides on each HELLO by {@link
 * io.talaria.messaging.handshake.Pairing}, and answers WELCOME or REJECT. Conductor's thread.
 */
final class Acceptor implements PendingHandshake.Side {
  /** For which the connection that is there may show that it lives. */
  private static final long ASK_NS = 1_000_000_000L;

  /** For which a listener whose accept has failed rests. */
  private static final long PAUSE_NS = 100_000_000L;

  private final LocalNode node;
  private final long cluster;
  private final long incarnation;
  private final Timers timers;
  private final PeerStates peers;
  private final Listeners listeners;
  private final TransportChoice transports;
  private final Handshakes handshakes;
  private final Dialer dialer;

  /** Whether the last accept failed, which is reported once. */
  private boolean failing;

  Acceptor(Identity identity, Timers timers, PeerStates peers, Listeners listeners, Dialer dialer) {
    node = identity.node();
    cluster = identity.cluster();
    incarnation = identity.incarnation();
    this.timers = timers;
    this.peers = peers;
    this.listeners = listeners;
    this.dialer = dialer;
    transports = dialer.transports();
    handshakes = dialer.handshakes();
  }

  /** Accepts one channel, if there is one. */
  void accept(SelectionKey key) {
    ServerSocketChannel listener = (ServerSocketChannel) key.channel();
    try {
      SocketChannel channel = accepted(listener, key);
      if (channel != null) {
        begin(channel, listeners.local(listener));
      }
    } catch (Throwable e) {
      node.events().internal("accept", e);
    }
  }

  /** The next channel, or null. */
  private SocketChannel accepted(ServerSocketChannel listener, SelectionKey key) {
    try {
      SocketChannel channel = listener.accept();
      failing = false;
      return channel;
    } catch (IOException e) { // no descriptor is free, and until one is, the listener stays ready
      if (!failing) {
        failing = true;
        node.events().internal("accept", e);
      }
      key.interestOps(0);
      timers.at(
          System.nanoTime() + PAUSE_NS,
          () -> {
            if (key.isValid()) {
              key.interestOps(SelectionKey.OP_ACCEPT);
            }
          });
      return null;
    }
  }

  private void begin(SocketChannel channel, boolean local) throws IOException {
    boolean begun = false;
    try {
      if (listeners.admit(channel, local) && !node.closing()) {
        handshakes.begin(new PendingHandshake(this, channel, local, State.HELLO_AWAITED));
        begun = true;
      }
    } catch (IOException e) {
      // The peer has gone.
    } finally {
      if (!begun) {
        channel.close();
      }
    }
  }

  @Override
  public void proved(PendingHandshake handshake) {
    // The caller says HELLO.
  }

  @Override
  public void frame(PendingHandshake handshake, byte kind, ByteBuffer frame) throws IOException {
    if (kind == HandshakeMessage.HELLO && handshake.state == State.HELLO_AWAITED) {
      handshake.hello = HandshakeMessage.Hello.of(frame);
      handshake.state = State.DECIDING;
      hello(handshake);
    } else if (kind == HandshakeMessage.READY && handshake.state == State.WELCOME_SENT) {
      handshakes.establish(
          handshake,
          handshake.hello.incarnation(),
          handshake.hello.offer(),
          HandshakeMessage.forms(frame));
    } else {
      throw new IOException("a frame of kind " + kind + " at the wrong time");
    }
  }

  private void hello(PendingHandshake handshake) throws IOException {
    HandshakeMessage.Hello hello = handshake.hello;
    if (hello.cluster() != cluster) {
      reject(handshake, HandshakeMessage.REJECT_OTHER, "it is a node of another cluster");
    } else if (hello.to() != node.id() || hello.from() == node.id()) {
      reject(
          handshake,
          HandshakeMessage.REJECT_OTHER,
          "it is node " + node.id() + ", not " + hello.to() + ", which " + hello.from() + " wants");
    } else if (node.closing()) {
      reject(handshake, HandshakeMessage.REJECT_FULL, "the node is closing");
    } else {
      handshake.peer = peers.of(hello.from());
      decide(handshake);
    }
  }

  private void decide(PendingHandshake handshake) throws IOException {
    PeerState peer = handshake.peer;
    HandshakeMessage.Hello hello = handshake.hello;
    Connection there = peer.peer.connection();
    switch (peer.pairing.onHello(hello.incarnation(), hello.heard())) {
      case ACCEPT -> welcome(handshake);
      case REPLACE -> {
        forget(peer, "the other side has lost the connection, and made a new one");
        welcome(handshake);
      }
      case REFUSE_OWN_DIAL ->
          reject(handshake, HandshakeMessage.REJECT_DUPLICATE, "both dialled at once");
      case REFUSE_LATE -> {
        if (there != null) {
          there.control(Records.PING, 0, 0);
        }
        reject(handshake, HandshakeMessage.REJECT_DUPLICATE, "there is a connection already");
      }
      case ASK -> {
        if (there != null) { // else it was made just now, and the poller does not have it yet
          there.receiver().heard = false;
          there.control(Records.PING, 0, 0);
        }
        timers.at(System.nanoTime() + ASK_NS, () -> asked(handshake, there));
      }
    }
  }

  /**
   * After a second: does the connection that had this id live? If not, decides again: meanwhile
   * there may be another one.
   */
  private void asked(PendingHandshake handshake, Connection there) {
    if (!handshakes.contains(handshake)) {
      return;
    }
    try {
      if (there != null && !there.dead() && there.receiver().heard) {
        reject(
            handshake,
            HandshakeMessage.REJECT_ID,
            "id " + handshake.hello.from() + " is in use by another process that lives");
      } else {
        if (handshake.peer.peer.connection() == there) {
          forget(handshake.peer, "another process has its id");
        }
        decide(handshake);
      }
      if (handshakes.contains(handshake)) {
        handshakes.flush(handshake);
      }
    } catch (Throwable e) {
      handshakes.end(handshake, peers.why(handshake.peer, e));
    }
  }

  private void forget(PeerState peer, String reason) {
    Connection there = peer.peer.connection();
    peer.pairing.ended(peer.pairing.heard());
    if (there != null) {
      peer.severed = there;
      peer.peer.connection(null);
      node.poller().retireSoon(there, reason);
    }
  }

  private void reject(PendingHandshake handshake, byte code, String why) throws IOException {
    handshake.bytes.send(HandshakeMessage.reject(code, why));
    handshake.bytes.flush();
    handshakes.end(handshake, null);
  }

  private void welcome(PendingHandshake handshake) throws IOException {
    PeerState peer = handshake.peer;
    HandshakeMessage.Hello hello = handshake.hello;
    if (peer.dial != null) {
      handshakes.end(peer.dial, null); // both dialled: the own attempt ends
    }
    PendingHandshake before = peer.accepting;
    peer.accepting = handshake;
    if (before != null) {
      handshakes.end(before, null); // its caller has given it up
    }
    handshake.number = peer.pairing.nextNumber(hello.heard());
    TransportChoice.Rejection rejection = transports.choose(handshake);
    if (rejection != null) {
      reject(handshake, rejection.code(), rejection.text());
      return;
    }
    handshake.state = State.WELCOME_SENT;
    handshake.bytes.send(
        new HandshakeMessage.Welcome(
                incarnation,
                handshake.number,
                handshake.transport,
                handshake.file,
                transports.offer(),
                ByteBuffer.wrap(handshake.offer(handshake.transport)),
                PeerTypes.differing(node.types(), hello.offer(), transports.offer()))
            .frame());
  }

  @Override
  public void failed(PendingHandshake handshake, String why) {
    PeerState peer = handshake.peer;
    if (peer != null && peer.accepting == handshake) {
      peer.accepting = null;
      dialer.dialIfWanted(peer);
    }
  }
}
