// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.process.TcpSockets;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * The server's half of the proof that a connection between two network namespaces ends where its
 * addresses say, for a {@link Session} that the peer has dialled: answers the datagrams of {@link
 * SegmentProbes}, and checks what the peer's offers say of them. Negotiation thread.
 */
final class SegmentEchoes {
  /** How old a proof may be: the network may have changed since. */
  static final long VALID_NS = 5_000_000_000L;

  /** Probes of one session in that time, of which there are 50 a second for two addresses. */
  private static final int MAX_ECHOES = 1024;

  private static final int DATAGRAMS_AT_ONCE = 16;

  private final Negotiator negotiator;
  private final Map<Integer, Echo> echoes = new HashMap<>();
  private boolean sweeping;

  /** The sockets that this namespace had, and when that was looked up. */
  private TcpSockets sockets;

  private long socketsAtNs;

  SegmentEchoes(Negotiator negotiator) {
    this.negotiator = negotiator;
  }

  /**
   * The peer asks for a port to send the datagrams of a probe to.
   *
   * @param between where they come from, and the listener
   * @return the port, or 0 if they cannot come here
   * @throws MalformedFrameException if there is a probe of that number
   */
  int listen(int id, ConnectionKey between, Nonce nonce) throws MalformedFrameException {
    if (id <= 0 || echoes.containsKey(id)) {
      throw new MalformedFrameException("probe " + id + " again");
    }
    if (echoes.size() >= MAX_ECHOES || !between.mayBeNeighbours()) {
      return 0;
    }
    InetAddress client = between.client().getAddress();
    InetAddress server = between.server().getAddress();
    for (Echo earlier : echoes.values()) {
      if (earlier.client.equals(client) && earlier.server.equals(server)) {
        earlier.close(); // the peer makes one after the other
      }
    }
    Echo echo = new Echo(client, server, nonce);
    int port = echo.open(between.client());
    if (port > 0) {
      echoes.put(id, echo);
      sweepLater();
    }
    return port;
  }

  /** Whether the peer has received the answer to a probe between the connection's addresses. */
  boolean heard(ConnectionKey connection, SegmentProof proof) {
    Echo echo = echoes.get(proof.probe());
    if (echo == null
        || !echo.heard
        || echo.old(System.nanoTime())
        || !echo.client.equals(connection.client().getAddress())
        || !echo.server.equals(connection.server().getAddress())
        || !echo.answer.equals(proof.answer())) {
      return false;
    }
    echo.close(); // it has said all
    return true;
  }

  /**
   * Checks that the connection of an offer is the one that was accepted here.
   *
   * @throws TransportException with {@link Reason#NOT_DIRECT} if that is not proved
   */
  void check(ConnectionKey connection, SegmentProof proof, Upgradable accepted)
      throws TransportException {
    int ttl = accepted.receivedTtl();
    if (ttl == 0 || ttl != proof.ttl()) {
      throw SegmentEnd.indirect(
          connection + " comes with time to live " + ttl + ", the client sends " + proof.ttl());
    }
    if (!heard(connection, proof)) {
      throw SegmentEnd.indirect("the proof of " + connection + " is too old");
    }
    SegmentEnd end =
        SegmentEnd.look(connection.server().getAddress(), connection.client().getAddress());
    if (!end.joins(proof.end())) {
      throw SegmentEnd.indirect(connection + " passes a router: here " + end + ", there " + proof);
    }
    if (!sockets(accepted.stoodAtNs()).haveServerAlone(connection.client(), connection.server())) {
      throw SegmentEnd.indirect(connection + " is translated in this namespace");
    }
  }

  /** What was read after a moment serves all connections that stood then. */
  private TcpSockets sockets(long sinceNs) throws TransportException {
    long now = System.nanoTime();
    if (sockets == null || socketsAtNs - sinceNs <= 0 || now - socketsAtNs > VALID_NS) {
      try {
        sockets = TcpSockets.read();
        socketsAtNs = now;
      } catch (IOException e) {
        throw SegmentEnd.indirect("the sockets cannot be read: " + e);
      }
    }
    return sockets;
  }

  void close() {
    echoes.values().forEach(Echo::close);
    echoes.clear();
    sockets = null;
  }

  private void sweepLater() {
    if (!sweeping) {
      sweeping = true;
      negotiator.loop().later(this::sweep);
    }
  }

  private void sweep() {
    sweeping = false;
    long now = System.nanoTime();
    for (Iterator<Echo> each = echoes.values().iterator(); each.hasNext(); ) {
      Echo echo = each.next();
      if (echo.old(now)) {
        echo.close();
        each.remove();
      }
    }
    if (echoes.isEmpty()) {
      sockets = null;
    } else {
      sweepLater();
    }
  }

  /** Answers the datagrams of one probe. */
  private final class Echo implements NegotiationLoop.Ready {
    private final InetAddress client;
    private final InetAddress server;
    private final Nonce nonce;
    private final Nonce answer = Nonce.random();
    private final long madeAtNs = System.nanoTime();
    private DatagramChannel channel;
    private boolean heard;

    Echo(InetAddress client, InetAddress server, Nonce nonce) {
      this.client = client;
      this.server = server;
      this.nonce = nonce;
    }

    boolean old(long nowNs) {
      return nowNs - madeAtNs > VALID_NS;
    }

    /** Listens at the server's address, to the client's only; returns the port, or 0. */
    int open(InetSocketAddress from) {
      try {
        NegotiationLoop loop = negotiator.loop();
        channel = loop.jdk().openDatagramChannel(StandardProtocolFamily.INET);
        channel.configureBlocking(false);
        channel.bind(new InetSocketAddress(server, 0));
        channel.connect(from);
        channel.register(loop.selector(), SelectionKey.OP_READ, this);
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
      } catch (IOException | RuntimeException e) {
        close(); // most likely the address is not this namespace's
        return 0;
      }
    }

    @Override
    public void ready() {
      ByteBuffer datagram = ByteBuffer.allocate(Nonce.BYTES + 1);
      try {
        for (int i = 0; channel != null && i < DATAGRAMS_AT_ONCE; i++) {
          int bytes = channel.read(datagram.clear());
          if (bytes <= 0) {
            return;
          }
          if (datagram.flip().equals(nonce.bytes())) {
            heard = true;
            channel.write(answer.bytes());
          }
        }
      } catch (IOException e) {
        close(); // the peer gives up
      }
    }

    @Override
    public void failed() {
      close();
    }

    private void close() {
      if (channel != null) {
        try {
          channel.close();
        } catch (IOException e) {
          // It is closed as far as it can be.
        }
        channel = null;
      }
    }
  }
}
