// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Forwarder;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.StreamServer;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Through a TCP forwarder a connection stays on TCP, and its bytes are right. */
class ForwarderTest {
  private static final long BYTES = 8 << 20;

  @RegisterExtension final Lab lab = new Lab();

  static List<Pair> pairs() {
    return Pair.noneAndBoth();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void staysPlainBehindAnotherPort(Pair pair) throws Exception {
    pair.assume();
    forward(pair, "127.0.0.1", false, Reason.PEER_NOT_ACCELERATED);
  }

  /** The client finds an announcement of the port it connects to, but it is not the forwarder's. */
  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void staysPlainBehindTheSamePortOfAnotherAddress() throws Exception {
    Pair.BOTH.assume();
    forward(Pair.BOTH, "127.0.0.2", true, Reason.NOT_MATCHED);
  }

  private void forward(Pair pair, String bind, boolean samePort, Reason reason) throws Exception {
    Child server = side(pair.server(), StreamServer.class).start();
    int port = server.await("listening").port();
    InetSocketAddress target = new InetSocketAddress("127.0.0.1", port);
    try (Forwarder forwarder = new Forwarder(bind, samePort ? port : 0, target)) {
      Child client =
          side(pair.client(), StreamClient.class)
              .arg("host", bind)
              .arg("port", forwarder.port())
              .start();
      server.await("finished");
      client.await("finished");
      assertThat(forwarder.forwardedBytes()).isEqualTo(2 * BYTES);
      if (pair.accelerated()) {
        Transports.await(client, NioTransport.TCP, reason);
        Transports.await(server, NioTransport.TCP, Reason.NO_OFFER);
      }
      server.send("close");
      client.send("close");
      lab.stop(server, client);
    }
  }

  private io.talaria.it.harness.ChildSpec side(Flavour flavour, Class<?> program) {
    return lab.child(flavour, program)
        .arg("ports", "any")
        .arg("min", BYTES)
        .arg("max", BYTES)
        .arg("keep", "yes");
  }
}
