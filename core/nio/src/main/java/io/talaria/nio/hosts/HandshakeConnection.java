// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.Reason;
import io.talaria.nio.authentication.Handshake;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.negotiation.NegotiationLoop;
import io.talaria.nio.negotiation.Session;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * A connection to or from a rendezvous port until both sides have proved that they have the key;
 * then it becomes a {@link Session}. It never holds more than the longest message of the {@link
 * Handshake}. Negotiation thread.
 */
final class HandshakeConnection implements NegotiationLoop.Ready {
  private final HostNegotiation hosts;
  private final SocketChannel channel;

  /** Whom this side calls; null if it was called. */
  private final RendezvousAddress address;

  /** About which listener it was called; null if it calls. */
  private final Rendezvous rendezvous;

  private final List<RendezvousAttempt> waiting = new ArrayList<>();
  private final long begunNs = System.nanoTime();
  private SelectionKey key;
  private ConnectionKey ends;
  private Handshake handshake;
  private ByteBuffer input;
  private ByteBuffer output;
  private boolean over;

  HandshakeConnection(
      HostNegotiation hosts,
      SocketChannel channel,
      RendezvousAddress address,
      Rendezvous rendezvous) {
    this.hosts = hosts;
    this.channel = channel;
    this.address = address;
    this.rendezvous = rendezvous;
  }

  /** Begins to call. */
  void call(Selector selector) throws IOException {
    channel.configureBlocking(false);
    channel.bind(new InetSocketAddress(address.from(), 0));
    boolean connected = channel.connect(address.to());
    key = channel.register(selector, SelectionKey.OP_CONNECT, this);
    if (connected) {
      begin();
    }
  }

  /** Begins to answer. */
  void answer(Selector selector) throws IOException {
    channel.configureBlocking(false);
    key = channel.register(selector, SelectionKey.OP_READ, this);
    begin();
  }

  RendezvousAddress address() {
    return address;
  }

  Rendezvous rendezvous() {
    return rendezvous;
  }

  long begunNs() {
    return begunNs;
  }

  List<RendezvousAttempt> waiting() {
    return waiting;
  }

  private void begin() throws IOException {
    InetSocketAddress own = (InetSocketAddress) channel.getLocalAddress();
    InetSocketAddress peer = (InetSocketAddress) channel.getRemoteAddress();
    ends = address == null ? new ConnectionKey(peer, own) : new ConnectionKey(own, peer);
    handshake = new Handshake(address != null, hosts.key(), ends.encoded());
    input = ByteBuffer.allocate(handshake.wantedBytes());
    output = handshake.first();
    flush();
  }

  @Override
  public void failed() {
    fail(Reason.INTERNAL, "an error of ours, see the log");
  }

  @Override
  public void ready() {
    if (over || !key.isValid()) {
      return; // ended by what was handled just before
    }
    try {
      if (key.isConnectable() && channel.finishConnect()) {
        begin();
      } else if (handshake != null) {
        flush();
        read();
      }
    } catch (TransportException e) {
      say(handshake.last());
      fail(e.reason(), e.detail());
    } catch (IOException e) {
      fail(lost(), e.getMessage());
    }
  }

  private Reason lost() {
    return address == null ? Reason.PEER_LOST : Reason.NO_RENDEZVOUS;
  }

  private void read() throws IOException, TransportException {
    while (!over) {
      int n = channel.read(input);
      if (n < 0) {
        throw ended();
      }
      if (input.hasRemaining()) {
        return;
      }
      output = handshake.received(input.flip());
      flush();
      if (handshake.done()) {
        over = true;
        hosts.authenticated(this, channel, new SealedLink(hosts, address, handshake.seal(), ends));
        return;
      }
      input = ByteBuffer.allocate(handshake.wantedBytes());
    }
  }

  /** A peer that hangs up on our proof does not accept it. */
  private TransportException ended() {
    return new TransportException(
        handshake.wantedBytes() == Handshake.PROOF_BYTES ? Reason.NOT_AUTHENTICATED : lost(),
        "the other side has hung up");
  }

  /** What is said here always finds room, but for a peer that the kernel holds back. */
  private void flush() throws IOException {
    if (output.hasRemaining()) {
      channel.write(output);
    }
    key.interestOps(SelectionKey.OP_READ | (output.hasRemaining() ? SelectionKey.OP_WRITE : 0));
  }

  /** As far as there is room. */
  private void say(ByteBuffer last) {
    try {
      channel.write(last);
    } catch (IOException e) {
      // It is gone already.
    }
  }

  void fail(Reason reason, String why) {
    if (!over) {
      over = true;
      close();
      hosts.failed(this, reason, why);
    }
  }

  void close() {
    over = true;
    try {
      channel.close();
    } catch (IOException e) {
      // It is closed as far as it can be.
    }
  }
}
