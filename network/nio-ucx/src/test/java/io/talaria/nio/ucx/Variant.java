// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A transport with honest connections to itself, and a hostile peer: a UCX worker of its own, which
 * sends what it likes. All in one thread, beside the transport's progress thread.
 */
final class Variant implements AutoCloseable {
  private static final long LIMIT_NS = 30_000_000_000L;
  private static final long HOSTILE_PID = 4_000_001;
  private static final long HONEST_PID = 4_000_002;

  /** So many honest connections as there may be engines to share with the hostile ones. */
  private static final int HONEST = 4;

  final UcxTransport transport = new UcxTransport(false);
  final FakePeer hostilePeer = new FakePeer(HOSTILE_PID);
  private final BoundWorker worker;
  private final List<Honest> honest = new ArrayList<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);

  private static final boolean POSSIBLE = Started.binding() != null;

  static boolean possible() {
    return POSSIBLE;
  }

  Variant() throws TransportException {
    transport.start();
    assertThat(transport.unavailable()).as(transport.problem()).isNull();
    worker = transport.binding().openWorker();
    worker.enter(); // the test is one thread
    hostilePeer.attach(new UcxPeer(hostilePeer, false));
    for (int i = 0; i < HONEST; i++) {
      honest.add(new Honest());
    }
  }

  /** A connection of the transport with itself. */
  private final class Honest {
    private final FakePeer there = new FakePeer(HONEST_PID);
    private final FakePeer here = new FakePeer(HONEST_PID);
    private final TransportStream client;
    private final TransportStream server;

    Honest() throws TransportException {
      transport.acceptPeer(here, transport.openPeer(there));
      Upgrade offer = transport.offer(there);
      Upgrade answer = transport.answer(here, offer.payload());
      server = answer.stream();
      server.owner(new FakeOwner(), null);
      offer.answered(answer.payload());
      client = offer.stream();
      client.owner(new FakeOwner(), null);
      client.acceptInput();
      server.acceptInput();
      deliver();
      assertThat(client.established()).isTrue();
      assertThat(server.established()).isTrue();
      client.switchOut(0);
      server.switchOut(0);
      until(() -> client.peerSwitchAt() == 0 && server.peerSwitchAt() == 0);
    }

    private void deliver() throws TransportException {
      boolean more = true;
      while (more) {
        ByteBuffer toServer = there.take();
        ByteBuffer toClient = here.take();
        more = toServer != null || toClient != null;
        if (toServer != null) {
          transport.received(here, toServer);
        }
        if (toClient != null) {
          transport.received(there, toClient);
        }
      }
    }

    void exchange() {
      pass(client, server);
      pass(server, client);
    }

    private void pass(TransportStream from, TransportStream to) {
      byte[] bytes = {1, 2, 3, 4, 5, 6, 7};
      assertThat(from.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
      ByteBuffer got = ByteBuffer.allocate(bytes.length + 1);
      until(
          () -> {
            assertThat(to.read(got)).as("read").isNotNegative();
            return got.position() >= bytes.length;
          });
      assertThat(got.flip()).isEqualTo(ByteBuffer.wrap(bytes));
    }
  }

  /** The honest connections carry bytes as ever. */
  void assertOthersGoOn() {
    honest.forEach(Honest::exchange);
  }

  /** A connection with the hostile peer. */
  final class Hostile {
    final UcxStream stream;
    final long token;
    private final BoundEndpoint way;

    Hostile() throws TransportException {
      Upgrade offer = transport.offer(hostilePeer);
      ByteBuffer payload = offer.payload();
      token = payload.getLong();
      byte[] address = new byte[payload.remaining()];
      payload.get(address);
      offer.answered(UcxMessages.place(77, UcxWorkerAddress.wrap(worker.address())));
      way = worker.connect(UcxWorkerAddress.unwrap(address), this);
      stream = (UcxStream) offer.stream();
      stream.owner(new FakeOwner(), null);
      stream.acceptInput();
      tell(UcxMessages.window(UcxMessages.ESTABLISHED, token, 1 << 20));
      stream.switchOut(0);
    }

    /** Sends a message of the session. */
    void tell(ByteBuffer message) throws TransportException {
      transport.received(hostilePeer, message);
    }

    /** Sends bytes through the stream. */
    void stream(ByteBuffer bytes) {
      if (bytes.hasRemaining()) {
        finish(way.sendStream(copy(bytes), bytes.remaining()));
      }
    }

    /** Begins as an honest peer does. */
    void begin() {
      stream(longs(token, 0));
    }

    /** Sends a message with a tag. */
    void message(ByteBuffer bytes, long tag) {
      finish(way.sendTag(copy(bytes), bytes.remaining(), tag));
    }

    private Block copy(ByteBuffer bytes) {
      Block copy = transport.binding().newBlock(Math.max(1, bytes.remaining()));
      copy.bytes().duplicate().put(bytes.duplicate());
      return copy;
    }

    private void finish(long request) {
      if (request > 0) {
        until(() -> worker.status(request) != BoundWorker.IN_PROGRESS);
        int unused = worker.poll(request);
      }
    }

    void assertBroken() {
      until(() -> read() == TransportStream.RESET);
    }

    /** Reads and forgets. */
    int read() {
      return stream.read(buffer.clear());
    }

    void assertWhole() {
      progress();
      assertThat(read()).isNotNegative();
    }

    void end() throws TransportException {
      stream.release();
      tell(UcxMessages.about(UcxMessages.RELEASED, token));
    }
  }

  static ByteBuffer longs(long... values) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * values.length);
    for (long value : values) {
      bytes.putLong(value);
    }
    return bytes.flip();
  }

  /** Lets everybody go on for a while. */
  void progress() {
    for (int i = 0; i < 100; i++) {
      turn();
    }
  }

  private void turn() {
    if (worker != null) {
      worker.progress();
    }
    for (Honest each : honest) {
      int unused =
          each.client.readiness(TransportStream.READ) | each.server.readiness(TransportStream.READ);
    }
  }

  void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      turn();
      if (System.nanoTime() - start > LIMIT_NS) {
        throw new AssertionError("nothing has happened for " + LIMIT_NS + " ns");
      }
    }
  }

  @Override
  public void close() {
    transport.peerGone(hostilePeer);
    progress();
    worker.exit();
    worker.close();
  }
}
