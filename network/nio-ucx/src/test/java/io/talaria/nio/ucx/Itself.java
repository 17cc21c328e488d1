// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

/**
 * A transport with connections to itself. The test plays both halves of the session, and is one
 * thread, beside the transport's progress thread: it says when messages are delivered, and when the
 * session or a control connection ends.
 */
final class Itself {
  static final long LIMIT_NS = 30_000_000_000L;

  final UcxTransport transport;

  /** What this side sends the peer's, and the reverse. */
  final FakePeer toServer;

  final FakePeer toClient;

  /**
   * Where the streams of servers are made from now on; null: where those without a ready set are.
   */
  UcxReadySet serverReadySet;

  /**
   * Begins a session.
   *
   * @param pid of the peer, as it says
   */
  Itself(UcxTransport transport, long pid, boolean betweenHosts) throws TransportException {
    this.transport = transport;
    toServer = new FakePeer(pid, betweenHosts);
    toClient = new FakePeer(pid, betweenHosts);
    assertThat(transport.unavailable()).as(transport.problem()).isNull();
    transport.acceptPeer(toClient, transport.openPeer(toServer));
  }

  /** A transport with other limits than usual. */
  static UcxTransport transportWith(String streams, String ends) {
    System.setProperty("talaria.ucx.streams", streams);
    System.setProperty("talaria.ucx.ends", ends);
    try {
      return new UcxTransport(false);
    } finally {
      System.clearProperty("talaria.ucx.streams");
      System.clearProperty("talaria.ucx.ends");
    }
  }

  /** The server's half of what the client has offered. */
  Upgrade answer(Upgrade offer) throws TransportException {
    return transport.answer(toClient, offer.payload(), serverReadySet);
  }

  /** A connection that is agreed and switched. */
  Connection connect(UcxReadySet readySet, StreamOwner client) throws TransportException {
    Connection made = new Connection(readySet, client);
    made.agree();
    made.client.switchOut(0);
    made.server.switchOut(0);
    until(
        () ->
            look(made.server)
                && look(made.client)
                && made.server.peerSwitchAt() == 0
                && made.client.peerSwitchAt() == 0);
    return made;
  }

  private static boolean look(UcxStream stream) {
    stream.engine().lookIn();
    return true;
  }

  /** Both ends of a connection, not agreed yet. The server has no ready set, nor has the client. */
  final class Connection {
    final UcxStream client;
    final UcxStream server;
    final Engine engine;

    /**
     * Makes them.
     *
     * @param readySet the client's, or null
     */
    Connection(UcxReadySet readySet, StreamOwner owner) throws TransportException {
      Upgrade offer = transport.offer(toServer, readySet);
      Upgrade answer = answer(offer);
      server = (UcxStream) answer.stream();
      server.owner(new FakeOwner(), null);
      offer.answered(answer.payload());
      client = (UcxStream) offer.stream();
      client.owner(owner, null);
      if (readySet != null) {
        client.moveTo(readySet);
      }
      engine = client.engine();
    }

    void agree() {
      client.acceptInput();
      server.acceptInput();
      deliver();
      assertThat(client.established()).isTrue();
      assertThat(server.established()).isTrue();
    }

    void exchange() {
      pass(client, server, 7);
      pass(server, client, 7);
    }

    void end() {
      client.release();
      server.release();
      until(
          () -> {
            deliver();
            return client.over() && server.over();
          });
    }
  }

  /** Delivers what was sent by the session. */
  void deliver() {
    try {
      boolean more = true;
      while (more) {
        ByteBuffer there = toServer.take();
        ByteBuffer here = toClient.take();
        more = there != null || here != null;
        if (there != null) {
          transport.received(toClient, there);
        }
        if (here != null) {
          transport.received(toServer, here);
        }
      }
    } catch (TransportException e) {
      throw new AssertionError(e);
    }
  }

  /** The session ends, for both sides. */
  void endSession() {
    transport.peerGone(toServer);
    transport.peerGone(toClient);
  }

  static void pass(TransportStream from, TransportStream to, int count) {
    write(from, count);
    ByteBuffer got = ByteBuffer.allocate(count + 1);
    until(
        () -> {
          assertThat(to.read(got)).as("read").isNotNegative();
          return got.position() >= count;
        });
    assertThat(got.flip()).isEqualTo(bytes(count));
  }

  static void write(TransportStream to, int count) {
    ByteBuffer bytes = bytes(count);
    until(
        () -> {
          assertThat(to.write(bytes)).as("written").isNotNegative();
          return !bytes.hasRemaining();
        });
  }

  private static ByteBuffer bytes(int count) {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    for (int i = 0; i < count; i++) {
      bytes.put(i, (byte) (i + 1));
    }
    return bytes;
  }

  /** Reads so many bytes, and then how it ends. */
  static int readToTheEnd(TransportStream from, int count) {
    ByteBuffer got = ByteBuffer.allocate(count + 1);
    int[] end = new int[1];
    until(
        () -> {
          end[0] = Math.min(0, from.read(got));
          return end[0] < 0;
        });
    assertThat(got.flip()).isEqualTo(bytes(count));
    return end[0];
  }

  static void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new AssertionError("nothing has happened for " + LIMIT_NS + " ns");
      }
    }
  }

  static boolean closed(Engine engine) {
    engine.enter();
    try {
      return engine.closed();
    } finally {
      engine.exit();
    }
  }
}
