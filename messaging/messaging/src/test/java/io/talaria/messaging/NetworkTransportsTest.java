// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.testsupport.Seed;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When transports ucx and verbs are taken and when not, and what many connections leave behind. */
@Timeout(300)
class NetworkTransportsTest {
  private static final Duration LONG = TestVerbs.limit();

  /** How often connections are made in the tests of what they leave behind. */
  private static final int ROUNDS = Integer.getInteger("talaria.test.reconnects", 20);

  /** The first rounds open what stays. */
  private static final int FIRST_ROUNDS = 5;

  @TempDir Path directory;
  private Variant.Nodes nodes;

  @AfterEach
  void closeNodes() {
    if (nodes != null) {
      nodes.close();
    }
  }

  private static NodeOptions knows(NodeOptions options) {
    return options
        .sendTimeout(Duration.ofSeconds(20))
        .type(Response.class)
        .handle(
            Pair.class,
            Dispatch.INLINE,
            (pair, request) -> request.respond(new Response(pair.first())))
        .handle(Bytes.class, Dispatch.ORDERED, (bytes, request) -> request.respond(bytes));
  }

  private static void ask(Node node, int id, long value) throws MessagingException {
    assertThat(node.peer(id).request(new Pair(value, 0), Response.class, LONG).value())
        .isEqualTo(value);
  }

  /** What a process has that connections take. */
  private record Taken(long mappings, long descriptors) {
    static Taken now() throws IOException {
      try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
        return new Taken(Files.readAllLines(Path.of("/proc/self/maps")).size(), all.count());
      }
    }

    void assertIsStill() throws Exception {
      Taken now = now();
      long end = System.nanoTime() + LONG.toNanos();
      while (!isStill(now) && System.nanoTime() - end < 0) {
        Thread.sleep(10); // other threads close what a connection had, a little later
        now = now();
      }
      assertThat(now.mappings).as("mappings").isLessThan(mappings + 50);
      assertThat(now.descriptors).as("descriptors").isLessThan(descriptors + 20);
    }

    private boolean isStill(Taken now) {
      return now.mappings < mappings + 50 && now.descriptors < descriptors + 20;
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UCX", "VERBS"})
  void sharedMemoryComesFirstAndTheNetworkBeforeTcp(Variant variant) throws Exception {
    Transport network = variant.transport();
    nodes = new Variant.Nodes(variant, directory);
    nodes.start(knows(nodes.options(2)).transports(Transport.SHM, network, Transport.TCP));
    nodes.start(knows(nodes.options(3)).transports(network, Transport.TCP));
    nodes.start(knows(nodes.options(4)).transports(Transport.TCP).listen("127.0.0.1", 0));
    Node node =
        nodes.start(knows(nodes.options(1)).transports(Transport.SHM, network, Transport.TCP));
    for (int id = 2; id <= 4; id++) {
      ask(node, id, id);
    }
    assertThat(node.peer(2).transport()).isEqualTo("shm");
    assertThat(node.peer(3).transport()).isEqualTo(network.code());
    assertThat(node.peer(3).reason())
        .matches("same host, by " + (variant == Variant.UCX ? "posix/memory.*" : ".*:1"));
    assertThat(node.peer(4).transport()).isEqualTo("tcp");
    ask(nodes.start(knows(nodes.options(5))), 3, 7); // one that has nothing else
  }

  /** What network transports tell each other is for those who have the key. */
  @ParameterizedTest
  @EnumSource(names = {"UCX", "VERBS"})
  void betweenHostsAKeyIsWanted(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    Path key = directory.resolve("key");
    Files.write(key, new byte[32]);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    for (boolean withKey : new boolean[] {false, true}) {
      int far = withKey ? 4 : 2;
      NodeOptions there = apart(far).listen("127.0.0.1", 0);
      NodeOptions here = apart(far + 1);
      if (withKey) {
        there.key(key);
        here.key(key);
      }
      Node other = nodes.start(there);
      InetSocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), other.port());
      Node node = nodes.start(here.directory(NodeDirectory.of(Map.of(far, address))));
      ask(node, far, 7);
      assertThat(node.peer(far).transport())
          .isEqualTo(withKey ? variant.transport().code() : "tcp");
    }
  }

  /** As on another host: neither sees the other's announcement. */
  private NodeOptions apart(int id) {
    return knows(nodes.options(id))
        .transports(nodes.variant.transport(), Transport.TCP)
        .runDirectory(directory.resolve("run-" + id));
  }

  @ParameterizedTest
  @EnumSource(names = {"UCX", "VERBS"})
  void whyAnotherTransportIsUsedIsSaid(Variant variant) throws Exception {
    Transport network = variant.transport();
    nodes = new Variant.Nodes(variant, directory);
    nodes.start(knows(nodes.options(2)).transports(Transport.TCP).listen("127.0.0.1", 0));
    Node node = nodes.start(knows(nodes.options(1)).transports(network, Transport.TCP).insecure());
    ask(node, 2, 7);
    assertThat(node.peer(2).transport()).isEqualTo("tcp");
    assertThat(node.peer(2).reason())
        .endsWith("; not by " + network.code() + ": the other side does not");
  }

  @ParameterizedTest
  @EnumSource(names = {"UCX", "VERBS"})
  void connectionsThatGiveWayLeaveNothing(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    nodes.start(knows(nodes.options(2)));
    nodes.start(knows(nodes.options(3)));
    Node node = nodes.start(knows(nodes.options(1)).maxConnections(1));
    Taken taken = null;
    for (int round = 0; round < ROUNDS; round++) {
      for (int id = 2; id <= 3; id++) {
        ask(node, id, round);
        while (node.counters().connections() > 1) {
          Thread.sleep(1); // the other one gives way
        }
      }
      taken = round == FIRST_ROUNDS ? Taken.now() : taken;
    }
    assertThat(node.counters().connected()).isGreaterThanOrEqualTo(ROUNDS);
    assertThat(node.counters().lost()).isZero();
    taken.assertIsStill();
  }

  /** Another process each time, as far as the others see. */
  @ParameterizedTest
  @EnumSource(names = {"UCX", "VERBS"})
  void restartsLeaveNothing(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    Node node = nodes.start(knows(nodes.options(1)));
    Taken taken = null;
    for (int round = 0; round < ROUNDS; round++) {
      try (Node far = Nodes.start(knows(nodes.options(2)))) {
        ask(node, far.id(), round);
        ask(far, node.id(), round);
        assertThat(node.peer(2).transport()).isEqualTo(variant.transport().code());
      }
      Waits.await(() -> !node.peer(2).connected()); // closing does not wait for long for this end
      taken = round == FIRST_ROUNDS ? Taken.now() : taken;
    }
    taken.assertIsStill();
  }

  /** Threads that do anything at any time. */
  @ParameterizedTest
  @EnumSource(names = {"UCX", "VERBS"})
  void randomProgramsComeToTheirEnd(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    int count = 4;
    List<Node> all = new ArrayList<>();
    AtomicInteger got = new AtomicInteger();
    for (int id = 1; id <= count; id++) {
      all.add(
          nodes.start(
              knows(nodes.options(id))
                  .dataRingBytes(64 << 10)
                  .controlRingBytes(16 << 10)
                  .receive(Pair.class, Dispatch.INLINE, (pair, from) -> got.incrementAndGet())));
    }
    long seed = Seed.next();
    AtomicInteger sent = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 2 * count; i++) {
      Random random = new Random(seed + i);
      Node node = all.get(i % count);
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      act(node, count, random, sent);
                    } catch (Exception | Error e) {
                      failure.compareAndSet(null, e);
                    }
                  }));
    }
    for (Thread each : threads) {
      each.join();
    }
    assertThat(failure.get()).as("seed %d", seed).isNull();
    long deadline = System.nanoTime() + LONG.toNanos();
    while (got.get() < sent.get()) {
      assertThat(System.nanoTime()).as("%s of %s", got, sent).isLessThan(deadline);
      Thread.sleep(1);
    }
    for (Node each : all) {
      assertThat(each.counters().lost()).as("seed %d", seed).isZero();
    }
  }

  private static void act(Node node, int count, Random random, AtomicInteger sent)
      throws MessagingException {
    for (int step = 0; step < 200; step++) {
      int id = 1 + random.nextInt(count);
      if (id == node.id()) {
        continue;
      }
      Peer peer = node.peer(id);
      switch (random.nextInt(4)) {
        case 0 -> ask(node, id, random.nextLong());
        case 1 -> {
          long position = 0;
          for (int i = random.nextInt(500); i >= 0; i--) {
            position = peer.send(new Pair(i, i));
            sent.incrementAndGet();
          }
          if (random.nextBoolean()) {
            assertThat(peer.awaitDelivered(position, LONG)).isTrue();
          }
        }
        case 2 -> {
          byte[] bytes = new byte[random.nextInt(100_000)];
          random.nextBytes(bytes);
          assertThat(peer.request(new Bytes(bytes), Bytes.class, LONG).bytes()).isEqualTo(bytes);
        }
        default -> Thread.yield();
      }
    }
  }
}
