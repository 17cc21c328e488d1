// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When transport ucx is taken and when not, and what many connections leave behind. */
@Timeout(180)
class UcxTransportTest {
  private static final Duration LONG = Duration.ofSeconds(60);

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
            (pair, request) -> request.respond(new Response(pair.first())));
  }

  private static void ask(Node node, int id, long value) throws MessagingException {
    assertThat(node.peer(id).request(new Pair(value, 0), Response.class, LONG).value())
        .isEqualTo(value);
  }

  private static long mappings() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).size();
  }

  @Test
  void sharedMemoryComesFirstAndUcxBeforeTcp() throws Exception {
    nodes = new Variant.Nodes(Variant.UCX, directory);
    nodes.start(knows(nodes.options(2)).transports(Transport.SHM, Transport.UCX, Transport.TCP));
    nodes.start(knows(nodes.options(3)).transports(Transport.UCX, Transport.TCP));
    nodes.start(knows(nodes.options(4)).transports(Transport.TCP).listen("127.0.0.1", 0));
    Node node =
        nodes.start(
            knows(nodes.options(1)).transports(Transport.SHM, Transport.UCX, Transport.TCP));
    for (int id = 2; id <= 4; id++) {
      ask(node, id, id);
    }
    assertThat(node.peer(2).transport()).isEqualTo("shm");
    assertThat(node.peer(3).transport()).isEqualTo("ucx");
    assertThat(node.peer(3).reason()).startsWith("same host, by posix/memory");
    assertThat(node.peer(4).transport()).isEqualTo("tcp");
  }

  /** The addresses of UCX are for those who have the key. */
  @Test
  void betweenHostsAKeyIsWanted() throws Exception {
    nodes = new Variant.Nodes(Variant.UCX, directory);
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
      assertThat(node.peer(far).transport()).isEqualTo(withKey ? "ucx" : "tcp");
    }
  }

  /** As on another host: neither sees the other's announcement. */
  private NodeOptions apart(int id) {
    return knows(nodes.options(id))
        .transports(Transport.UCX, Transport.TCP)
        .runDirectory(directory.resolve("run-" + id));
  }

  @Test
  void connectionsThatGiveWayLeaveNothing() throws Exception {
    nodes = new Variant.Nodes(Variant.UCX, directory);
    nodes.start(knows(nodes.options(2)));
    nodes.start(knows(nodes.options(3)));
    Node node = nodes.start(knows(nodes.options(1)).maxConnections(1));
    long before = 0;
    int rounds = Integer.getInteger("talaria.test.ucx.reconnects", 20);
    for (int round = 0; round < rounds; round++) {
      for (int id = 2; id <= 3; id++) {
        ask(node, id, round);
        while (node.counters().connections() > 1) {
          Thread.sleep(1); // the other one gives way
        }
      }
      before = round == 5 ? mappings() : before;
    }
    assertThat(node.counters().connected()).isGreaterThanOrEqualTo(rounds);
    assertThat(node.counters().lost()).isZero();
    assertThat(mappings()).as("mappings").isLessThan(before + 50);
  }

  /** Another process each time, as far as the others see. */
  @Test
  void restartsLeaveNothing() throws Exception {
    nodes = new Variant.Nodes(Variant.UCX, directory);
    Node node = nodes.start(knows(nodes.options(1)));
    long before = 0;
    int rounds = Integer.getInteger("talaria.test.ucx.restarts", 20);
    for (int round = 0; round < rounds; round++) {
      try (Node far = Nodes.start(knows(nodes.options(2)))) {
        ask(node, far.id(), round);
        ask(far, node.id(), round);
        assertThat(node.peer(2).transport()).isEqualTo("ucx");
      }
      before = round == 5 ? mappings() : before;
    }
    assertThat(mappings()).as("mappings").isLessThan(before + 50);
  }
}
