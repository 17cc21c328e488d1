// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.messaging.handshake.NodeHandshake;
import io.talaria.nio.memory.Mapping;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** A handshake that has not led to a connection yet. Conductor's thread. */
final class PendingHandshake {
  /** How far it has come. The first four are of the side that dialled. */
  enum State {
    /** The TCP connection is not there yet. */
    CONNECTING,
    /** The peer has not proved the key. */
    PROVING,
    /** WELCOME or REJECT is awaited. */
    HELLO_SENT,
    /** WELCOME has come, and READY is being sent. */
    READY_BEGUN,
    /** At the side that accepted: the proof or HELLO is awaited. */
    HELLO_AWAITED,
    /** The connection that is there is asked whether it lives. */
    DECIDING,
    /** READY is awaited. */
    WELCOME_SENT
  }

  /** One side's part in handshakes. */
  interface Side {
    /** The peer has proved the key, or need not, and this side has said nothing yet. */
    void proved(PendingHandshake handshake) throws IOException;

    /** A frame has come. */
    void frame(PendingHandshake handshake, byte kind, ByteBuffer frame) throws IOException;

    /**
     * It came to nothing, and its channel is closed.
     *
     * @param why for people, or null if it is expected
     */
    void failed(PendingHandshake handshake, String why);
  }

  private static final byte[] NOTHING = {};

  final Side side;
  final SocketChannel channel;

  /** Whether both nodes are on this host, connected by a Unix-domain socket. */
  final boolean local;

  /** The bytes; null while connecting. */
  NodeHandshake bytes;

  State state;

  /** When it is given up, as of {@link System#nanoTime}. */
  long deadlineNs;

  /** The other node; null at the side that accepted, until HELLO has come. */
  PeerState peer;

  /** The address that was dialled, or null. */
  InetSocketAddress address;

  /** What the side that accepted has received, or null. */
  HandshakeMessage.Hello hello;

  /** What the side that dialled has received, or null. */
  HandshakeMessage.Welcome welcome;

  /** The transports that this side has offered, bits of {@link HandshakeMessage}. */
  int offered;

  /** The number of the connection that it leads to. */
  int number;

  /** The transport that was chosen, a bit of {@link HandshakeMessage}; 0: none yet. */
  int transport;

  /**
   * What this side's network transports have told the peer, by their bits of {@link
   * HandshakeMessage}: their offers, or the response of the one that was chosen.
   */
  private final Map<Integer, byte[]> offers = new HashMap<>();

  /** The shared file and its mapping, with transport shm. */
  long file;

  Mapping mapping;

  /** Why this transport was chosen; for people. */
  String reason;

  PendingHandshake(Side side, SocketChannel channel, boolean local, State state) {
    this.side = side;
    this.channel = channel;
    this.local = local;
    this.state = state;
    reason = local ? "same host" : "no announcement of it on this host";
  }

  /** An address as it was given, by name or number; for people. */
  static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  /** What a transport of this side has told the peer; empty if nothing. */
  byte[] offer(int bit) {
    return offers.getOrDefault(bit, NOTHING);
  }

  void offer(int bit, byte[] told) {
    offers.put(bit, told);
  }

  /** The network transports of this side that have told the peer something. */
  Set<Integer> offering() {
    return Set.copyOf(offers.keySet());
  }

  /** A transport of this side is not used after all. */
  void offerEnds(int bit) {
    offers.remove(bit);
  }

  boolean dialled() {
    return state.compareTo(State.READY_BEGUN) <= 0;
  }

  /** Whether it is of a process on another host, or of another user, that has proved nothing. */
  boolean stranger() {
    return !dialled() && !local;
  }
}
