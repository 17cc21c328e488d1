// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.programs.EchoClient;
import io.talaria.it.programs.Neighbours;
import io.talaria.nio.NioTransport;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Datagram channels, pipes, Unix-domain channels and further listeners live in one selector with
 * accelerated connections, and give back their descriptors however they leave.
 */
class NeighboursTest {
  private static final int CONNECTIONS = 4;

  @RegisterExtension final Lab lab = new Lab();

  static List<Pair> pairs() {
    List<Pair> fast = List.of(Pair.BOTH, new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17));
    return Settings.fewPairs() ? fast : Stream.concat(Stream.of(Pair.NONE), fast.stream()).toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void liveTogetherAndLeaveNothing(Pair pair) throws Exception {
    pair.assume();
    Child server =
        lab.child(pair.server(), Neighbours.class)
            .arg("dir", Files.createDirectory(lab.scratch().resolve("sockets")))
            .start();
    Child client =
        lab.child(pair.client(), EchoClient.class)
            .arg("port", server.await("listening").port())
            .arg("connections", CONNECTIONS)
            .arg("rounds", 2000)
            .start();
    client.await("connected");
    if (pair.accelerated()) {
      io.talaria.it.harness.Transports.awaitAll(
          client, c -> c.transport() == NioTransport.SHM, CONNECTIONS, "accelerated");
    }
    server.send("cycle 6");
    long echoed = server.await("cycled").number("echoed");
    int descriptors = Proc.descriptors(server);
    for (int i = 0; i < 3; i++) {
      long before = echoed;
      client.send("round");
      // On a busy machine the client may begin only after 30 cycles.
      while (echoed == before) {
        server.send("cycle 30");
        echoed = server.await("cycled").number("echoed");
      }
      assertThat(client.await("echoed").number("spurious")).isZero();
    }
    long deadlineNs = System.nanoTime() + Child.PATIENCE.toNanos();
    while (Proc.descriptors(server) > descriptors + 1 && System.nanoTime() < deadlineNs) {
      Thread.sleep(20);
    }
    assertThat(Proc.descriptors(server)).as("descriptors").isLessThanOrEqualTo(descriptors + 1);
    lab.stop(client, server);
  }
}
