// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.handshake.Fnv;
import io.talaria.messaging.handshake.HandshakeMessage;
import io.talaria.testsupport.Seed;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How connections come, go and are refused. */
@Timeout(180)
class ConnectionsTest {
  private static final Duration LONG = TestVerbs.limit();
  private static final int ROUNDS = Math.min(60, Integer.getInteger("talaria.test.rounds", 30));

  @TempDir Path directory;
  private Variant.Nodes nodes;

  @AfterEach
  void closeNodes() {
    if (nodes != null) {
      nodes.close();
    }
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(Condition condition) throws InterruptedException {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  private static NodeOptions knows(NodeOptions options, AtomicInteger got) {
    return options
        .sendTimeout(Duration.ofSeconds(20))
        .type(Response.class)
        .receive(Pair.class, Dispatch.INLINE, (pair, from) -> got.incrementAndGet())
        .handle(
            Pair.class,
            Dispatch.INLINE,
            (pair, request) -> request.respond(new Response(pair.first())));
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void bothDialAtOnceAndEndInOneConnection(Variant variant) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      try (Variant.Nodes both = new Variant.Nodes(variant, directory)) {
        AtomicInteger got = new AtomicInteger();
        Node first = both.start(knows(both.options(1), got));
        Node second = both.start(knows(both.options(2), got));
        CyclicBarrier barrier = new CyclicBarrier(2);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (Peer peer : List.of(first.peer(2), second.peer(1))) {
          threads.add(
              Thread.ofPlatform()
                  .start(
                      () -> {
                        try {
                          barrier.await();
                          for (int i = 0; i < 10; i++) {
                            peer.send(new Pair(i, i));
                          }
                        } catch (Exception e) {
                          failure.set(e);
                        }
                      }));
        }
        for (Thread each : threads) {
          each.join();
        }
        assertThat(failure.get()).as("round %d", round).isNull();
        await(() -> got.get() == 20);
        assertThat(first.counters().connections()).isEqualTo(1);
        assertThat(second.counters().connections()).isEqualTo(1);
        assertThat(first.counters().connected()).isEqualTo(1);
      }
    }
  }

  /** A young node, or one on a busy host, may need longer for that than a send waits. */
  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void aRequestWaitsForItsConnectionUntilItsOwnTimeout(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    AtomicInteger got = new AtomicInteger();
    Node first = nodes.start(knows(nodes.options(1), got).sendTimeout(Duration.ZERO));
    nodes.start(knows(nodes.options(2), got));
    assertThat(first.peer(2).request(new Pair(1, 2), Response.class, LONG))
        .isEqualTo(new Response(1));

    long begin = System.nanoTime();
    assertThatThrownBy(() -> first.peer(3).request(new Pair(1, 2), Response.class, LONG))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.UNREACHABLE));
    assertThat(System.nanoTime() - begin).isLessThan(LONG.toNanos());
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void theConnectionIdleForLongestGivesWay(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    AtomicInteger got = new AtomicInteger();
    for (int id = 2; id <= 5; id++) {
      nodes.start(knows(nodes.options(id), got));
    }
    Node node = nodes.start(knows(nodes.options(1), got).maxConnections(2));
    for (int round = 1; round <= 3; round++) {
      for (int id = 2; id <= 5; id++) {
        long position = node.peer(id).send(new Pair(round, id));
        assertThat(node.peer(id).awaitDelivered(position, LONG)).isTrue();
      }
      int all = 4 * round;
      await(() -> got.get() == all);
      await(() -> node.counters().connections() <= 2); // busy ones may exceed the limit for a while
    }
    assertThat(node.counters().connected()).isGreaterThan(4);
    assertThat(node.counters().lost()).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP", "UCX", "VERBS"})
  void aPositionOutlivesTheConnectionThatGaveWay(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    AtomicInteger got = new AtomicInteger();
    nodes.start(knows(nodes.options(2), got));
    nodes.start(knows(nodes.options(3), got));
    Node node = nodes.start(knows(nodes.options(1), got).maxConnections(1));
    Peer first = node.peer(2);
    long position = first.send(new Pair(1, 2));
    long other = node.peer(3).send(new Pair(1, 3));
    assertThat(node.peer(3).awaitDelivered(other, LONG)).isTrue();
    await(
        () -> {
          node.peer(3).trySend(new Pair(1, 4)); // the other one is in use
          return !first.connected();
        });
    assertThat(first.awaitDelivered(position, LONG)).isTrue();
    long later = first.send(new Pair(2, 2));
    assertThat(first.awaitDelivered(position, LONG)).as("by the next connection").isTrue();
    assertThat(first.awaitDelivered(later, LONG)).isTrue();
    assertThatThrownBy(() -> first.awaitDelivered(later + (1L << 50), LONG))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.LOST));
    assertThat(node.counters().lost()).isZero();
  }

  /** The JVM interrupts a thread that is in an access while another one unmaps the memory. */
  @Test
  void threadsThatSendAreNotInterruptedWhenTheConnectionEnds() throws Exception {
    nodes = new Variant.Nodes(Variant.SHM, directory);
    Node here = nodes.start(nodes.options(1).type(Pair.class));
    Peer peer = here.peer(2);
    AtomicInteger interrupted = new AtomicInteger();
    AtomicBoolean ended = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!ended.get()) {
                      peer.trySend(new Pair(1, 2));
                      if (Thread.interrupted()) {
                        interrupted.incrementAndGet();
                      }
                    }
                  }));
    }
    try {
      for (int i = 0; i < ROUNDS; i++) {
        AtomicInteger received = new AtomicInteger();
        try (Node there =
            nodes.start(
                nodes
                    .options(2)
                    .receive(Pair.class, Dispatch.INLINE, (pair, from) -> received.set(1)))) {
          Waits.await(() -> received.get() == 1);
          assertThat(there.id()).isEqualTo(2);
        }
      }
    } finally {
      ended.set(true);
      for (Thread each : threads) {
        each.join();
      }
    }
    assertThat(interrupted).hasValue(0);
  }

  /** Threads that wait wake up, and those that look at the ring go on, as the memory goes. */
  @Test
  void threadsThatUseAPeerAreNotInterruptedWhenTheirNodeIsClosed() throws Exception {
    nodes = new Variant.Nodes(Variant.SHM, directory);
    Node there =
        nodes.start(nodes.options(2).receive(Pair.class, Dispatch.INLINE, (pair, from) -> {}));
    AtomicInteger interrupted = new AtomicInteger();
    for (int i = 0; i < ROUNDS; i++) {
      List<Thread> threads = new ArrayList<>();
      try (Node here = nodes.start(nodes.options(1).sendTimeout(LONG).type(Pair.class))) {
        Peer peer = here.peer(there.id());
        long first = peer.send(new Pair(1, 2));
        assertThat(peer.awaitDelivered(first, Duration.ofSeconds(20))).isTrue();
        AtomicBoolean over = new AtomicBoolean();
        Runnable sending =
            () -> over.set(over.get() || peer.trySend(new Pair(1, 2)) == Peer.CLOSED);
        for (Runnable use : List.of(sending, sending, (Runnable) peer::freeBytes)) {
          threads.add(
              Thread.ofPlatform()
                  .start(
                      () -> {
                        while (!over.get()) {
                          use.run();
                          if (Thread.interrupted()) {
                            interrupted.incrementAndGet();
                          }
                        }
                      }));
        }
      }
      for (Thread each : threads) {
        each.join();
      }
    }
    assertThat(interrupted).hasValue(0);
  }

  @Test
  void anotherClusterAndTheWrongNodeAreRefusedWithTheReason() throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Node there = nodes.start(knows(nodes.options(2), got));
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), there.port());
    Node other =
        nodes.start(
            knows(nodes.options(3), got)
                .cluster("another")
                .sendTimeout(Duration.ofSeconds(2))
                .directory(NodeDirectory.of(Map.of(2, address))));
    refused(other.peer(2), "it is a node of another cluster");
    Node same =
        nodes.start(
            knows(nodes.options(4), got)
                .sendTimeout(Duration.ofSeconds(2))
                .directory(NodeDirectory.of(Map.of(9, address))));
    refused(same.peer(9), "it is node 2, not 9");
    assertThat(got.get()).isZero();
  }

  private static void refused(Peer peer, String why) throws Exception {
    // The handshake may need longer than the send waits.
    await(() -> peer.trySend(new Pair(1, 2)) == Peer.CONNECTING && peer.reason().contains(why));
    assertThatThrownBy(() -> peer.send(new Pair(1, 2)))
        .isInstanceOfSatisfying(
            MessagingException.class, e -> assertThat(e.code()).isEqualTo(Code.REFUSED))
        .hasMessageContaining(why);
  }

  private Path key(String name, int first) throws Exception {
    Path file = directory.resolve(name);
    byte[] bytes = new byte[32];
    bytes[0] = (byte) first;
    Files.write(file, bytes);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  @Test
  void onlyWhoHasTheKeyIsLetIn() throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Path key = key("key", 1);
    nodes.start(knows(nodes.options(2), got).key(key));
    Node friend = nodes.start(knows(nodes.options(3), got).key(key));
    assertThat(friend.peer(2).request(new Pair(7, 0), Response.class, LONG).value()).isEqualTo(7);
    Duration limit = Duration.ofMillis(700);
    Node stranger =
        nodes.start(knows(nodes.options(4), got).key(key("other", 2)).sendTimeout(limit));
    assertThatThrownBy(() -> stranger.peer(2).send(new Pair(1, 2)))
        .isInstanceOf(MessagingException.class)
        .hasMessageContaining("UNREACHABLE");
    Node without = nodes.start(knows(nodes.options(5), got).sendTimeout(limit));
    assertThatThrownBy(() -> without.peer(2).send(new Pair(1, 2)))
        .isInstanceOf(MessagingException.class);
    assertThat(got.get()).isZero();
    assertThat(friend.peer(2).request(new Pair(8, 0), Response.class, LONG).value()).isEqualTo(8);
  }

  @Test
  void encryptedStreamsCarryEverythingAndWantBothSidesToEncrypt() throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Path key = key("key", 1);
    Node there =
        nodes.start(
            knows(nodes.options(2), got)
                .key(key)
                .encrypted()
                .handle(Bytes.class, Dispatch.ORDERED, (bytes, request) -> request.respond(bytes)));
    Node here = nodes.start(knows(nodes.options(3), got).type(Bytes.class).key(key).encrypted());
    Peer peer = here.peer(2);
    for (int size : new int[] {0, 1, 70_000, 3 << 20}) {
      byte[] bytes = new byte[size];
      new Random(size).nextBytes(bytes);
      assertThat(peer.request(new Bytes(bytes), Bytes.class, LONG).bytes()).isEqualTo(bytes);
    }
    for (int i = 0; i < 2_000; i++) {
      assertThat(peer.request(new Pair(i, 0), Response.class, LONG).value()).isEqualTo(i);
    }
    assertThat(peer.reason()).endsWith(", encrypted");
    Duration limit = Duration.ofMillis(700);
    Node open = nodes.start(knows(nodes.options(4), got).key(key).sendTimeout(limit));
    assertThatThrownBy(() -> open.peer(2).send(new Pair(1, 2)))
        .isInstanceOf(MessagingException.class);
    assertThatThrownBy(() -> there.peer(4).request(new Pair(1, 2), Response.class, limit))
        .isInstanceOf(MessagingException.class);
    assertThatThrownBy(() -> Nodes.start(nodes.options(5).encrypted()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("encrypted() needs a key");
    assertThat(peer.request(new Pair(8, 0), Response.class, LONG).value()).isEqualTo(8);
  }

  @Test
  void hostsAreFoundByNameInAFileAndByAPattern() throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Node there = nodes.start(knows(nodes.options(2), got));
    Path file = directory.resolve("nodes");
    Files.writeString(file, "# by name\n2 localhost:" + there.port() + "\n");
    Node node = nodes.start(knows(nodes.options(3), got).directory(NodeDirectory.file(file)));
    assertThat(node.peer(2).request(new Pair(7, 0), Response.class, LONG).value()).isEqualTo(7);
    assertThat(NodeDirectory.names("store-{id}.example", 4000).address(12))
        .isEqualTo(InetSocketAddress.createUnresolved("store-12.example", 4000));
    assertThatThrownBy(() -> NodeDirectory.names("store.example", 4000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has no {id}");
    assertThatThrownBy(() -> NodeDirectory.names("{id}", 70_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("from 1 to 65535");
  }

  @Test
  void otherHostsWantAKey() throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Node node =
        nodes.start(
            knows(nodes.options(1), got)
                .sendTimeout(Duration.ofMillis(500))
                .directory(id -> new InetSocketAddress("192.0.2.1", 4000)));
    refused(node.peer(2), "there is no key");
  }

  @Test
  void aPortInUseFailsTheStartAndLeavesNothing() throws Exception {
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Node first = nodes.start(knows(nodes.options(1), got));
    int threads = Thread.activeCount();
    assertThatThrownBy(
            () -> Nodes.start(knows(nodes.options(2), got).listen("127.0.0.1", first.port())))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot listen on");
    assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
  }

  /** Sound nodes do not notice somebody who sends anything, before and behind a good handshake. */
  @Test
  void aHostileCallerHarmsItsOwnConnectionOnly() throws Exception {
    long seed = Seed.next();
    Random random = new Random(seed);
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Node there = nodes.start(knows(nodes.options(2), got));
    Node sound = nodes.start(knows(nodes.options(1), got));
    Peer peer = sound.peer(2);
    assertThat(peer.request(new Pair(1, 0), Response.class, LONG).value()).isEqualTo(1);
    for (int round = 0; round < 200; round++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), there.port())) {
        OutputStream out = socket.getOutputStream();
        byte[] junk = new byte[random.nextInt(3000)];
        random.nextBytes(junk);
        if (random.nextInt(4) != 0) {
          out.write(hello(random, 100 + round));
          if (random.nextBoolean()) {
            out.write(bytes(HandshakeMessage.ready(HandshakeMessage.Forms.NONE)));
            if (random.nextBoolean()) {
              out.write(frame(random, junk));
            }
          }
        }
        out.write(junk);
        out.flush();
      } catch (IOException e) {
        // It has thrown us out already.
      }
      if (round % 20 == 0) {
        assertThat(peer.request(new Pair(round, 0), Response.class, LONG).value()).isEqualTo(round);
      }
    }
    await(() -> there.counters().connections() == 1);
    assertThat(sound.counters().lost()).isZero();
    assertThat(peer.request(new Pair(5, 0), Response.class, LONG).value()).isEqualTo(5);
  }

  /** Records of all kinds, with fields that may be and that cannot be, behind a sound handshake. */
  @Test
  void hostileRecordsHarmTheirOwnConnectionOnly() throws Exception {
    long seed = Seed.next();
    Random random = new Random(seed);
    nodes = new Variant.Nodes(Variant.TCP, directory);
    AtomicInteger got = new AtomicInteger();
    Node there =
        nodes.start(
            knows(nodes.options(2), got)
                .receiveBudget(4 << 20)
                .receive(Bytes.class, Dispatch.ORDERED, (bytes, from) -> {}));
    Node sound = nodes.start(knows(nodes.options(1), got).type(Bytes.class));
    Peer peer = sound.peer(2);
    for (int round = 0; round < 300; round++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), there.port())) {
        OutputStream out = socket.getOutputStream();
        out.write(soundHello(random, 100 + round));
        out.write(bytes(HandshakeMessage.ready(HandshakeMessage.Forms.NONE)));
        for (int i = 1 + random.nextInt(20); i > 0; i--) {
          byte[] records = records(random);
          int priority = random.nextInt(2);
          ByteBuffer head = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
          head.putInt(records.length)
              .putInt(0)
              .put((byte) 1)
              .put((byte) priority)
              .putShort((short) 0);
          out.write(head.putInt(0x67734d54).array());
          out.write(records);
        }
        out.flush();
      } catch (IOException e) {
        // It has thrown us out already.
      }
      if (round % 20 == 0) {
        assertThat(peer.request(new Pair(round, 0), Response.class, LONG).value()).isEqualTo(round);
      }
    }
    await(() -> there.counters().connections() == 1);
    // What they have asked for, and begun, is free again.
    for (int i = 0; i < 3; i++) {
      long position = peer.send(new Bytes(new byte[4_000_000]));
      assertThat(peer.awaitDelivered(position, LONG)).isTrue();
    }
    assertThat(sound.counters().lost()).isZero();
  }

  private static byte[] records(Random random) {
    ByteBuffer records = ByteBuffer.allocate(2048).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = random.nextInt(4); i >= 0; i--) {
      int length = 8 + random.nextInt(100);
      int at = records.position();
      byte[] any = new byte[length + 7 & -8];
      random.nextBytes(any);
      records.put(any);
      int end = records.position();
      int kind = random.nextInt(8) == 0 ? random.nextInt(256) : 1 + random.nextInt(13);
      int said = random.nextInt(20) == 0 ? random.nextInt() : length;
      records.putInt(at, said).putShort(at + 4, (short) random.nextInt(4));
      records.put(at + 6, (byte) kind).put(at + 7, (byte) 0);
      if (random.nextInt(4) != 0 && length >= 40) {
        int total = random.nextBoolean() ? 2 * length : random.nextInt(5 << 20);
        records.putInt(at + 8, random.nextInt(4)).putInt(at + 12, kind == 5 ? 0 : total);
        records.putInt(at + 16, total).putInt(at + 20, 1 + random.nextInt(3));
      }
      records.position(end);
    }
    byte[] bytes = new byte[records.position()];
    records.get(0, bytes);
    return bytes;
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static byte[] hello(Random random, int from) {
    byte[] hello = soundHello(random, from);
    if (random.nextInt(3) == 0) {
      hello[random.nextInt(hello.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return hello;
  }

  private static byte[] soundHello(Random random, int from) {
    HandshakeMessage.Offer offer =
        new HandshakeMessage.Offer(
            1, 1 << 20, 1 << 14, 1 << 14, List.of("x", Pair.class.getName()), List.of(1L, 2L));
    return bytes(
        new HandshakeMessage.Hello(
                Fnv.hash("test"),
                from,
                2,
                random.nextLong(),
                0,
                HandshakeMessage.TCP,
                offer,
                ByteBuffer.allocate(0),
                ByteBuffer.allocate(0))
            .frame());
  }

  /** A frame of a stream with a sound head, and nonsense in it. */
  private static byte[] frame(Random random, byte[] junk) {
    int length = random.nextInt(4) == 0 ? random.nextInt() : junk.length & -8;
    ByteBuffer frame = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(length).putInt(random.nextInt(8) == 0 ? random.nextInt() : 0);
    frame.put((byte) (1 + random.nextInt(2))).put((byte) random.nextInt(3)).putShort((short) 0);
    frame.putInt(random.nextInt(10) == 0 ? random.nextInt() : 0x67734d54);
    return frame.array();
  }
}
