// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.NettyEcho;
import io.talaria.it.programs.NettyEchoUser;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Ordinary Netty code: many connections on few event loops, automatic reading switched off and on,
 * writes far beyond the high-water mark, half-close.
 */
class NettyTest {
  private static final int CONNECTIONS = 64;

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    return Stream.of(
        Arguments.of(Pair.NONE, false),
        Arguments.of(Pair.BOTH, false),
        Arguments.of(Pair.BOTH, true),
        Arguments.of(new Pair(Flavour.TALARIA, Flavour.PLAIN), false),
        Arguments.of(new Pair(Flavour.PLAIN, Flavour.TALARIA), false),
        Arguments.of(new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17), true));
  }

  @ParameterizedTest(name = "{0}, accelerated before the load: {1}")
  @MethodSource("cases")
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void echoesEverything(Pair pair, boolean warm) throws Exception {
    pair.assume();
    Child server = lab.child(pair.server(), NettyEcho.class).start();
    Child client =
        lab.child(pair.client(), NettyEchoUser.class)
            .arg("port", server.await("listening").port())
            .arg("connections", CONNECTIONS)
            .arg("bytes", Settings.scaled(2 << 20))
            .start();
    client.await("connected");
    if (warm) {
      useUntilAccelerated(server, client);
    }
    client.send("rest");
    client.await("echoed", Duration.ofSeconds(100));
    if (warm) {
      for (Child side : List.of(server, client)) {
        assertThat(Transports.totals(side).acceleratedInBytes())
            .isGreaterThan(CONNECTIONS * Settings.scaled(1 << 20));
      }
    }
    client.send("close");
    client.await("closed");
    lab.stop(client, server);
  }

  private static void useUntilAccelerated(Child server, Child client) throws Exception {
    for (int part = 0; part < 200 && accelerated(server) + accelerated(client) < 2; part++) {
      client.send("part 1000");
      client.await("part");
    }
    for (Child side : List.of(server, client)) {
      Transports.awaitAll(side, NettyTest::isAccelerated, CONNECTIONS, "accelerated");
    }
  }

  private static int accelerated(Child side) throws Exception {
    return Transports.of(side).stream().filter(NettyTest::isAccelerated).count() == CONNECTIONS
        ? 1
        : 0;
  }

  private static boolean isAccelerated(ConnectionInfo connection) {
    return connection.transport() == NioTransport.SHM && connection.reason() == Reason.SAME_HOST;
  }
}
