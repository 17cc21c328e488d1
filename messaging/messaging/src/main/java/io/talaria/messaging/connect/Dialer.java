// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.connect.PendingHandshake.State;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.node.RemotePeer;
import io.talaria.messaging.transport.LoopLink;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;

/**
 * The side of handshakes that calls: connects to nodes that the program sends to, says HELLO, and
 * tries again later where that failed. Conductor's thread, except for {@link #want}.
 */
final class Dialer implements PendingHandshake.Side {
  private final LocalNode node;
  private final NodeOptions options;
  private final Identity identity;
  private final Executor conductor;
  private final Timers timers;
  private final PeerStates peers;
  private final Listeners listeners;
  private final NodeSecurity security;
  private final TransportChoice transports;
  private final ConnectionTable connections;
  private final Handshakes handshakes;

  Dialer(
      Identity identity,
      Executor conductor,
      Timers timers,
      PeerStates peers,
      Listeners listeners,
      NodeSecurity security,
      TransportChoice transports,
      ConnectionTable connections,
      Handshakes handshakes) {
    this.identity = identity;
    node = identity.node();
    options = node.options();
    this.conductor = conductor;
    this.timers = timers;
    this.peers = peers;
    this.listeners = listeners;
    this.security = security;
    this.transports = transports;
    this.connections = connections;
    this.handshakes = handshakes;
  }

  TransportChoice transports() {
    return transports;
  }

  Handshakes handshakes() {
    return handshakes;
  }

  /** A connection is wanted. Any thread. */
  void want(RemotePeer peer) {
    if (peer.requested.compareAndSet(false, true)) {
      conductor.execute(() -> wanted(peer));
    }
  }

  private void wanted(RemotePeer peer) {
    PeerState state = peers.of(peer.id());
    if (peer.connection() != null || node.closing()) {
      peer.requested.set(false);
      return;
    }
    boolean begun = state.wanted || state.resolving || state.dial != null;
    state.wanted = true;
    if (begun) {
      return;
    }
    if (state.retryNs - System.nanoTime() > 0) {
      timers.at(state.retryNs, () -> dialIfWanted(state));
    } else {
      dialIfWanted(state);
    }
  }

  /** Dials, unless that is not wanted any more or has been begun by either side. */
  void dialIfWanted(PeerState state) {
    if (state.wanted
        && !state.resolving
        && state.dial == null
        && state.accepting == null
        && state.peer.connection() == null
        && !state.pairing.isConnected()
        && !node.closing()) {
      dial(state);
    }
  }

  private void dial(PeerState state) {
    try {
      if (state.peer.id() == node.id()) {
        connectToItself(state);
        return;
      }
      PendingHandshake handshake = connect(state);
      if (handshake != null) {
        begin(state, handshake);
      }
    } catch (Throwable e) { // also of the program's directory
      String why = peers.why(state, e);
      PendingHandshake dial = state.dial;
      if (dial != null && handshakes.contains(dial)) {
        handshakes.end(dial, why);
      } else {
        peers.unreachable(state, Code.UNREACHABLE, why);
      }
    }
  }

  private void connectToItself(PeerState state) {
    Connection loop =
        connections.create(
            state, 1, identity.incarnation(), transports.offer(), HandshakeMessage.Forms.NONE);
    connections.start(
        loop, new LoopLink(loop, options.dataRingBytes(), options.controlRingBytes()), state);
  }

  private void begin(PeerState state, PendingHandshake handshake) throws IOException {
    handshake.peer = state;
    state.dial = handshake;
    try {
      handshakes.begin(handshake);
    } finally {
      if (!handshakes.contains(handshake)) {
        handshake.channel.close();
      }
    }
  }

  /** A handshake on a channel that is connected or connecting; null if there is none yet. */
  private PendingHandshake connect(PeerState state) throws IOException {
    int id = state.peer.id();
    SocketChannel local = listeners.dialLocal(id);
    if (local != null) {
      return new PendingHandshake(this, local, true, State.PROVING);
    }
    InetSocketAddress address = state.resolved != null ? state.resolved : addressOf(id);
    if (transports.available(false) == 0 || address == null) {
      peers.unreachable(state, Code.UNREACHABLE, noAddress(id));
      return null;
    }
    if (address.isUnresolved()) {
      resolve(state, address);
      return null;
    }
    if (!security.allows(address)) {
      peers.unreachable(
          state,
          Code.REFUSED,
          "node "
              + id
              + " is at "
              + PendingHandshake.text(address)
              + ", and there is no key: call NodeOptions.key, or insecure() if you must");
      return null;
    }
    SocketChannel channel = SocketChannel.open();
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.connect(address);
    } catch (IOException | RuntimeException e) { // such as an unsupported kind of address
      channel.close();
      String why = e instanceof IOException ? e.getMessage() : Thrown.text(e); // it has no message
      throw new IOException("node " + id + " at " + PendingHandshake.text(address) + ": " + why, e);
    }
    PendingHandshake handshake = new PendingHandshake(this, channel, false, State.CONNECTING);
    handshake.address = address;
    return handshake;
  }

  private InetSocketAddress addressOf(int id) throws IOException {
    try {
      return options.directory().address(id);
    } catch (Throwable e) { // the program's
      throw new IOException("the directory of nodes has failed: " + Thrown.text(e), e);
    }
  }

  private String noAddress(int id) {
    String tcp;
    if (transports.available(false) != 0) {
      tcp = " and not in the directory of nodes";
    } else if (!node.networks().anyOpen()) {
      tcp = ", and transport tcp is off";
    } else {
      tcp = ", transport tcp is off, and " + transports.networkRefusals();
    }
    return "node "
        + id
        + " is not announced on this host"
        + (listeners.announced() ? "" : " (transport shm is off)")
        + tcp;
  }

  /** On a thread of its own, because it may take long. */
  private void resolve(PeerState state, InetSocketAddress address) {
    Thread.ofPlatform()
        .daemon()
        .name(node.threadName("resolver"))
        .start(
            () -> {
              try {
                InetSocketAddress found =
                    new InetSocketAddress(address.getHostString(), address.getPort());
                conductor.execute(() -> resolved(state, found));
              } catch (Throwable e) { // of a resolver of the program's
                conductor.execute(() -> notResolved(state, e));
              }
            });
    state.resolving = true; // it has begun; what it finds is told to this thread
  }

  private void notResolved(PeerState state, Throwable thrown) {
    state.resolving = false;
    peers.unreachable(state, Code.UNREACHABLE, peers.why(state, thrown));
  }

  private void resolved(PeerState state, InetSocketAddress found) {
    state.resolving = false;
    if (found.isUnresolved()) {
      peers.unreachable(
          state,
          Code.UNREACHABLE,
          "host " + found.getHostString() + " of node " + state.peer.id() + " is not known");
      return;
    }
    state.resolved = found;
    dialIfWanted(state);
    state.resolved = null;
  }

  @Override
  public void proved(PendingHandshake handshake) {
    PeerState state = handshake.peer;
    transports.offerTo(handshake);
    handshake.bytes.send(
        new HandshakeMessage.Hello(
                identity.cluster(),
                node.id(),
                state.peer.id(),
                identity.incarnation(),
                state.pairing.heard(),
                handshake.offered,
                transports.offer(),
                ByteBuffer.wrap(handshake.offer(HandshakeMessage.VERBS)),
                ByteBuffer.wrap(handshake.offer(HandshakeMessage.UCX)))
            .frame());
    state.pairing.saidHello();
    handshake.state = State.HELLO_SENT;
  }

  @Override
  public void frame(PendingHandshake handshake, byte kind, ByteBuffer frame) throws IOException {
    if (handshake.state != State.HELLO_SENT) {
      throw new IOException("a frame of kind " + kind + " at the wrong time");
    }
    switch (kind) {
      case HandshakeMessage.WELCOME -> welcomed(handshake, HandshakeMessage.Welcome.of(frame));
      case HandshakeMessage.REJECT -> rejected(handshake, frame);
      default -> throw new IOException("a frame of kind " + kind + " answers HELLO");
    }
  }

  private void welcomed(PendingHandshake handshake, HandshakeMessage.Welcome welcome)
      throws IOException {
    transports.open(handshake, welcome);
    handshake.bytes.send(
        HandshakeMessage.ready(PeerTypes.differing(node.types(), welcome.offer(), null)));
    handshake.welcome = welcome;
    handshake.state = State.READY_BEGUN; // flush() makes the connection when all is sent
  }

  private void rejected(PendingHandshake handshake, ByteBuffer frame) throws IOException {
    byte code = frame.get();
    String text = HandshakeMessage.rejectText(frame);
    PeerState state = handshake.peer;
    handshakes.end(handshake, null);
    if (code == HandshakeMessage.REJECT_DUPLICATE) {
      // The other's attempt comes, or does not: then this node tries again.
      state.retryNs = System.nanoTime() + PeerState.FIRST_RETRY_NS;
      timers.at(state.retryNs, () -> dialIfWanted(state));
    } else {
      peers.unreachable(state, Code.REFUSED, "node " + state.peer.id() + " refuses: " + text);
    }
  }

  @Override
  public void failed(PendingHandshake handshake, String why) {
    PeerState state = handshake.peer;
    if (state.dial == handshake) {
      state.dial = null;
      state.pairing.dialEnded();
      if (why != null) {
        peers.unreachable(state, Code.UNREACHABLE, why);
      }
    }
  }
}
