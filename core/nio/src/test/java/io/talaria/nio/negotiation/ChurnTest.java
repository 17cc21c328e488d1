// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.shm.Length;
import io.talaria.nio.shm.OwnMappings;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportStream;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections come and go between two negotiations over the real transport, in every order. */
@Timeout(120)
class ChurnTest {
  private static final int PORT = 7002;
  private static final int RING = 4096;
  private static final long RUN_NS = Length.ns(6);
  private static final int POOLED = 64;

  @TempDir Path temporary;

  private OwnMappings mappings;
  private final List<Pair> open = new ArrayList<>();
  private RecordingTransport clientTransport;
  private RecordingTransport serverTransport;
  private Node client;
  private Node server;
  private Path shm;
  private int connections;

  /** Both ends of a connection; an end that was not accepted is null. */
  private static final class Pair {
    final FakeChannel client;
    FakeChannel server;

    Pair(ConnectionKey key) {
      client = new FakeChannel(key);
    }
  }

  @BeforeEach
  void announce() throws Exception {
    mappings = new OwnMappings(temporary);
    shm = temporary.resolve("shm");
    clientTransport = new RecordingTransport(shm, RING);
    serverTransport = new RecordingTransport(shm, RING);
    client = new Node(temporary.resolve("run"), clientTransport);
    server = new Node(temporary.resolve("run"), serverTransport);
    assertThat(server.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
  }

  private Pair connect() {
    return new Pair(FakeChannel.key(1 + connections++ % 60_000, PORT));
  }

  private void accept(Pair pair) {
    pair.server = new FakeChannel(pair.client.key());
    server.negotiator.accepted(pair.server);
  }

  private void close(Node node, FakeChannel channel) {
    TransportStream stream = channel.close();
    node.negotiator.closed(channel, node == server, stream != null);
    if (stream != null) {
      stream.release();
    }
  }

  private void closeServer(Pair pair) {
    if (pair.server != null) {
      close(server, pair.server);
    }
  }

  /** What the client sends arrives at its own server, and nothing else does. */
  private static void exchange(Pair pair) {
    TransportStream from = pair.client.stream;
    TransportStream to = pair.server.stream;
    assertThat(from.established()).isTrue();
    assertThat(to.established()).isTrue();
    int port = pair.client.key().client().getPort();
    ByteBuffer into = ByteBuffer.allocate(16);
    assertThat(to.read(into)).as("left from another connection").isZero();
    assertThat(from.write(ByteBuffer.allocate(4).putInt(0, port))).isEqualTo(4);
    assertThat(to.read(into)).isEqualTo(4);
    assertThat(into.getInt(0)).isEqualTo(port);
  }

  private void settle() throws Exception {
    for (int i = 0; i < 20; i++) {
      client.settle();
      server.settle();
      Thread.sleep(5); // frames are on their way
    }
  }

  private void assertHealthy() {
    assertThat(client.log).as("the client's log").isEmpty();
    assertThat(server.log).as("the server's log").isEmpty();
  }

  /** Ends the session, as the end of a process does, and looks at what is left. */
  private void assertNothingLeft() throws Exception {
    for (Peer peer : clientTransport.peers) {
      client.negotiator.execute(() -> ((Session) peer).close(Reason.PEER_LOST));
    }
    settle();
    assertThat(mappings.count()).as("mappings").isZero();
    assertThat(shm).isEmptyDirectory();
    client.assertNoFailure();
    server.assertNoFailure();
  }

  @Test
  void aClientThatOpensItsNextConnectionWhenTheServerHasClosedTheLast() throws Exception {
    for (int i = 0; i < 2000; i++) {
      Pair pair = connect();
      accept(pair);
      client.negotiator.connected(pair.client);
      pair.client.awaitAttached();
      pair.server.awaitAttached();
      exchange(pair);
      closeServer(pair);
      if (i % 3 == 0) {
        client.settle();
      }
      close(client, pair.client);
      assertHealthy();
    }
    assertThat(clientTransport.peers).as("sessions").hasSize(1);
    assertNothingLeft();
  }

  @Test
  void connectionsThatComeAndGoInAnyOrder() throws Exception {
    long start = System.nanoTime();
    for (long seed = Seed.next(); System.nanoTime() - start < RUN_NS; seed++) {
      Random random = new Random(seed);
      int most = random.nextInt(4) == 0 ? 3 * POOLED : 6;
      for (int i = 0; i < 200; i++) {
        try {
          step(random, most);
          assertHealthy();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("with seed " + seed + ": " + e, e);
        }
      }
    }
    while (!open.isEmpty()) {
      closeBoth(new Random(1), open.remove(0));
    }
    settle();
    assertHealthy();
    assertThat(clientTransport.peers).as("sessions").hasSize(1);
    assertThat(mappings.count()).as("mappings of pooled segments").isLessThanOrEqualTo(2 * POOLED);
    assertNothingLeft();
  }

  @Test
  void aProcessThatTalksToItself() throws Exception {
    client = server;
    clientTransport = serverTransport;
    for (int i = 0; i < 300; i++) {
      Pair pair = connect();
      if (i % 2 == 0) {
        accept(pair);
      }
      server.negotiator.connected(pair.client);
      if (i % 2 != 0) {
        accept(pair);
      }
      pair.client.awaitAttached();
      pair.server.awaitAttached();
      exchange(pair);
      closeBoth(new Random(i), pair);
      assertHealthy();
    }
    assertThat(serverTransport.peers).as("both sides of one session").hasSize(2);
    assertNothingLeft();
  }

  private void step(Random random, int most) throws Exception {
    if (open.size() < most && random.nextInt(5) < 3) {
      Pair pair = connect();
      boolean acceptFirst = random.nextBoolean();
      if (acceptFirst) {
        accept(pair);
      }
      client.negotiator.connected(pair.client);
      if (!acceptFirst && random.nextInt(8) != 0) {
        if (random.nextBoolean()) {
          client.settle();
          server.settle();
        }
        accept(pair);
      }
      if (random.nextInt(8) == 0) {
        closeBoth(random, pair); // while it is being negotiated
        return;
      }
      open.add(pair);
      if (random.nextInt(3) == 0 && pair.server != null) {
        pair.client.awaitAttached();
        pair.server.awaitAttached();
        exchange(pair);
      }
    } else if (!open.isEmpty()) {
      closeBoth(random, open.remove(random.nextInt(open.size())));
    }
  }

  private void closeBoth(Random random, Pair pair) throws Exception {
    if (random.nextBoolean()) {
      closeServer(pair);
      if (random.nextInt(4) == 0) {
        server.settle();
        client.settle();
      }
      close(client, pair.client);
    } else {
      close(client, pair.client);
      if (random.nextInt(4) == 0) {
        client.settle();
        server.settle();
      }
      closeServer(pair);
    }
  }
}
