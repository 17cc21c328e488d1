// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Modes;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.programs.NettyEcho;
import io.talaria.it.programs.NettyEchoUser;
import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Ordinary Netty code: many connections on few event loops, automatic reading switched off and on,
 * writes far beyond the high-water mark, half-close.
 */
class NettyTest {
  private static final int CONNECTIONS = 64;

  @RegisterExtension final Lab lab = new Lab();

  static List<Pair> pairs() {
    return List.of(
        Pair.NONE,
        Pair.BOTH,
        new Pair(Flavour.TALARIA, Flavour.PLAIN),
        new Pair(Flavour.PLAIN, Flavour.TALARIA),
        new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void echoesEverything(Pair pair) throws Exception {
    pair.assume();
    Child server = lab.child(pair.server(), NettyEcho.class).start();
    Child client =
        lab.child(pair.client(), NettyEchoUser.class)
            .arg("port", server.await("listening").port())
            .arg("connections", CONNECTIONS)
            .arg("bytes", Settings.scaled(2 << 20))
            .start();
    client.await("echoed", Duration.ofSeconds(100));
    if (pair.accelerated()) {
      for (Child side : List.of(server, client)) {
        Modes.awaitAll(
            side,
            c -> c.mode() == Mode.SHM && c.reason() == Reason.SAME_HOST,
            CONNECTIONS,
            "accelerated");
        assertThat(Modes.totals(side).fabricInBytes()).isGreaterThan(Settings.scaled(1 << 20));
      }
    }
    client.send("close");
    client.await("closed");
    lab.stop(client, server);
  }
}
