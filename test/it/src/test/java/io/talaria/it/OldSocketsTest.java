// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.OldSockets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code java.net.Socket} and {@code ServerSocket} of an unmodified program. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class OldSocketsTest {
  @RegisterExtension final Lab lab = new Lab();

  private Child server;
  private Child client;

  private void start(Pair pair, Object sockets) throws Exception {
    pair.assume();
    server =
        lab.child(pair.server(), OldSockets.class)
            .arg("role", "server")
            .property("talaria.sockets", sockets)
            .start();
    client =
        lab.child(pair.client(), OldSockets.class)
            .arg("port", server.await("listening").port())
            .property("talaria.sockets", sockets)
            .start();
    client.await("connected");
  }

  static List<Pair> pairs() {
    return Stream.concat(Pair.coexisting().stream(), Pair.withOldJava().stream()).toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void theyAreAcceleratedWhereBothSidesAskForIt(Pair pair) throws Exception {
    start(pair, true);
    Transports.use(pair, server, client, "use", "used");
    lab.stop(client, server);
  }

  @Test
  void theyAreTheJdksUnlessAskedFor() throws Exception {
    start(Pair.BOTH, null);
    client.send("use");
    client.await("used");
    for (Child side : List.of(server, client)) {
      assertThat(Transports.of(side)).isEmpty();
    }
    lab.stop(client, server);
  }

  @Test
  void aSocksProxyLeavesThemAlone() throws Exception {
    Child alone =
        lab.child(Flavour.TALARIA, OldSockets.class)
            .arg("role", "server")
            .property("talaria.sockets", true)
            .property("socksProxyHost", "127.0.0.1")
            .start();
    alone.awaitLog("does not accelerate java.net.Socket, because socksProxyHost");
    alone.await("listening");
    lab.stop(alone);
  }
}
