// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import io.talaria.messaging.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that find each other by an ensemble of three, in this process, which loses members. */
@Timeout(300)
class ZooKeeperDirectoryTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static TestingCluster ensemble;

  record Figure(long value) {}

  @TempDir Path directory;

  /** Ports are chosen before they are used: two that are the same are chosen again. */
  @BeforeAll
  static void start() throws Exception {
    for (int tries = 1; ; tries++) {
      ensemble = new TestingCluster(3);
      try {
        ensemble.start();
        return;
      } catch (Exception e) {
        ensemble.close();
        if (tries == 3) {
          throw e;
        }
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    ensemble.close();
  }

  private ZooKeeperDirectory connect(String cluster) throws IOException {
    return ZooKeeperDirectory.connect(ensemble.getConnectString(), cluster, LIMIT);
  }

  private Node node(int id, String cluster, ZooKeeperDirectory known) throws Exception {
    Node node =
        Nodes.start(
            NodeOptions.of(id)
                .cluster(cluster)
                .transports(Transport.TCP)
                .listen("127.0.0.1", 0)
                .runDirectory(directory.resolve("run"))
                .sharedMemoryDirectory(directory.resolve("shm"))
                .sendTimeout(LIMIT)
                .directory(known)
                .handle(
                    Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure)));
    known.announce(id, "127.0.0.1", node.port(), LIMIT);
    return node;
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(until);
      Thread.sleep(10);
    }
  }

  private static long ask(Node from, int to, long value) throws Exception {
    return from.peer(to).request(new Figure(value), Figure.class, LIMIT).value();
  }

  @Test
  void nodesFindEachOtherWhileTheEnsembleLosesAMember() throws Exception {
    try (ZooKeeperDirectory first = connect("members");
        ZooKeeperDirectory second = connect("members");
        Node one = node(1, "members", first);
        Node two = node(2, "members", second)) {
      await("1 sees 2", () -> first.address(2) != null);
      assertThat(ask(one, 2, 7)).isEqualTo(7);
      InstanceSpec member = ensemble.findConnectionInstance(first.zooKeeper());
      assertThat(ensemble.killServer(member)).isTrue();
      // Two of three continue: known nodes stay known, and new ones are found.
      assertThat(ask(one, 2, 8)).isEqualTo(8);
      try (ZooKeeperDirectory third = connect("members");
          Node three = node(3, "members", third)) {
        await("1 sees 3", () -> first.address(3) != null);
        await("3 sees 1", () -> third.address(1) != null);
        assertThat(ask(one, 3, 9)).isEqualTo(9);
        assertThat(ask(three, 2, 10)).isEqualTo(10);
      }
      await("1 sees that 3 has gone", () -> first.address(3) == null);
      assertThat(ensemble.restartServer(member)).isTrue();
      await("all are there", () -> first.nodes().keySet().equals(second.nodes().keySet()));
      assertThat(first.nodes().keySet()).containsExactlyInAnyOrder(1, 2);
      assertThat(two.peer(1).connected()).isTrue();
    }
  }

  @Test
  void clustersDoNotSeeEachOther() throws Exception {
    try (ZooKeeperDirectory red = connect("red");
        ZooKeeperDirectory blue = connect("blue")) {
      red.announce(4, "host4", 1234, LIMIT);
      await("red sees 4", () -> red.address(4) != null);
      assertThat(red.address(4)).isEqualTo(InetSocketAddress.createUnresolved("host4", 1234));
      assertThat(blue.nodes()).isEmpty();
    }
  }

  @Test
  void whatIsNoAddressIsNoNode() {
    List<String> wrong = List.of("", "host", "host:", ":1", "host:99999", "host:1x", "host:-1");
    for (String each : wrong) {
      assertThat(ZooKeeperDirectory.parse(each.getBytes(StandardCharsets.UTF_8))).as(each).isNull();
    }
    assertThat(ZooKeeperDirectory.parse(null)).isNull();
    assertThat(ZooKeeperDirectory.parse(new byte[1000])).isNull();
  }

  @Test
  void nobodyThereIsToldWithinTheLimit() {
    assertThatThrownBy(
            () -> ZooKeeperDirectory.connect("127.0.0.1:1", "none", Duration.ofMillis(300)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("ZooKeeper at 127.0.0.1:1 has not answered within PT0.3S");
    assertThatThrownBy(() -> ZooKeeperDirectory.connect("a:1", "a/b", LIMIT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a/b");
  }
}
