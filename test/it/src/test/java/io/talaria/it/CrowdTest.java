// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Tmpfs;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.EchoClient;
import io.talaria.it.programs.EchoServer;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Many connections between two processes: each echoes in turn, and together they cost no time when
 * idle.
 */
@Tag("transport")
@Tag("alone")
class CrowdTest {
  private static final Duration WATCHED = Duration.ofSeconds(3);

  /** Of one core, in both processes together; the goal is 1, the bound leaves room for the JVMs. */
  private static final double IDLE_PERCENT = 4;

  @RegisterExtension final Lab lab = new Lab();

  private Child server;
  private Child client;
  private int port;
  private Path shmDir;

  private Path shmDir() {
    return shmDir == null ? lab.shmDir() : shmDir;
  }

  private void connect(Pair pair, int connections, int rounds) throws Exception {
    start(pair, connections, rounds);
    if (pair.accelerated()) {
      for (Child side : List.of(server, client)) {
        Transports.awaitAll(
            side,
            c -> c.transport() == Settings.fast() && c.reason() == Reason.SAME_HOST,
            connections,
            "accelerated");
      }
    }
  }

  private void start(Pair pair, int connections, int rounds) throws Exception {
    pair.assume();
    server =
        lab.child(pair.server(), EchoServer.class)
            .arg("backlog", 1024)
            .property("talaria.shm.dir", shmDir())
            .start();
    port = server.await("listening").port();
    client =
        lab.child(pair.client(), EchoClient.class)
            .arg("port", port)
            .arg("connections", connections)
            .arg("rounds", rounds)
            .property("talaria.shm.dir", shmDir())
            .start();
    client.await("connected");
  }

  static List<Pair> pairs() {
    return Pair.noneAndBoth();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void thousandConnectionsEchoInTurn(Pair pair) throws Exception {
    connect(pair, 1000, 5);
    for (int i = 0; i < 3; i++) {
      client.send("round");
      Event echoed = client.await("echoed");
      assertThat(echoed.number("spurious")).as("spurious selects of the client").isZero();
    }
    server.send("report");
    assertThat(server.await("spurious").number("count")).as("of the server").isZero();
    lab.stop(client, server);
  }

  /** As much shared memory as a container usually has. */
  @Test
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void twoThousandConnectionsFitInto64Megabytes() throws Exception {
    shmDir = Tmpfs.mount(lab, "size=64m,mode=700").resolve("shm");
    fit(2000);
  }

  @Test
  @Tag("long")
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void tenThousandConnectionsFitInto64Megabytes() throws Exception {
    assumeTrue(Settings.fast() == NioTransport.SHM, "UCX has memory and limits of its own");
    shmDir = Tmpfs.mount(lab, "size=64m,mode=700").resolve("shm");
    fit(10_000);
  }

  private void fit(int connections) throws Exception {
    connect(Pair.BOTH, connections, 5);
    client.send("round");
    assertThat(client.await("echoed").number("spurious")).isZero();
    lab.stop(client, server);
  }

  /** Those that find no room are plain, and work; the others stay as they are. */
  @Test
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void withoutRoomForMoreSlabsTheOthersArePlain() throws Exception {
    assumeTrue(Settings.fast() == NioTransport.SHM, "UCX has memory of its own");
    int connections = 1000;
    shmDir = Tmpfs.mount(lab, "size=4m,mode=700").resolve("shm");
    start(Pair.BOTH, connections, 5);
    for (Child side : List.of(server, client)) {
      Transports.awaitAll(
          side,
          c -> c.transport() == Settings.fast() || c.reason() == Reason.SHM_FULL || side == server,
          connections,
          "accelerated or out of room");
    }
    assertThat(Transports.of(client)).anyMatch(c -> c.transport() == Settings.fast());
    assertThat(Transports.of(client)).anyMatch(c -> c.reason() == Reason.SHM_FULL);
    client.send("round");
    assertThat(client.await("echoed").number("spurious")).isZero();
    lab.stop(client, server);
  }

  /** One of two crowds is killed: what it had is given back, and the other goes on. */
  @Test
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void aCrowdThatIsKilledLeavesNothing() throws Exception {
    connect(Pair.BOTH, 1000, 5);
    int mappings = Proc.mappings(server, shmDir());
    Child other =
        lab.child(Pair.BOTH.client(), EchoClient.class)
            .arg("port", port)
            .arg("connections", 1000)
            .arg("rounds", 5)
            .property("talaria.shm.dir", shmDir())
            .start();
    other.await("connected");
    Transports.awaitAll(other, c -> c.transport() == Settings.fast(), 1000, "accelerated");
    other.kill();
    long deadlineNs = System.nanoTime() + Child.PATIENCE.toNanos();
    Proc.collectGarbage(server); // which unmaps the region
    while (Proc.mappings(server, shmDir()) > mappings) {
      assertThat(System.nanoTime()).as("time to unmap what the killed had").isLessThan(deadlineNs);
      Thread.sleep(200);
      Proc.collectGarbage(server);
    }
    client.send("round");
    assertThat(client.await("echoed").number("spurious")).isZero();
    lab.stop(client, server);
  }

  static Stream<Arguments> idlers() {
    return Pair.noneAndBoth().stream()
        .flatMap(pair -> Stream.of("idle", "block").map(how -> Arguments.of(pair, how)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("idlers")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void hundredIdleConnectionsCostNothing(Pair pair, String how) throws Exception {
    connect(pair, 100, 20);
    client.send("round");
    client.await("echoed");
    client.send(how);
    client.await("idling");
    awaitQuiet();
    long before = Proc.cpuMs(server) + Proc.cpuMs(client);
    Thread.sleep(WATCHED.toMillis());
    long used = Proc.cpuMs(server) + Proc.cpuMs(client) - before;
    assertThat(100.0 * used / WATCHED.toMillis())
        .as("percent of a core, %d ms in %s", used, WATCHED)
        .isLessThan(IDLE_PERCENT);
    lab.stop(client, server);
  }

  /** Compilers and start-up work come to rest: half a second without noticeable work. */
  private void awaitQuiet() throws Exception {
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(15).toNanos();
    long last = -1000;
    long now = Proc.cpuMs(server) + Proc.cpuMs(client);
    while (now - last > 20 && System.nanoTime() < deadlineNs) {
      last = now;
      Thread.sleep(500);
      now = Proc.cpuMs(server) + Proc.cpuMs(client);
    }
  }
}
