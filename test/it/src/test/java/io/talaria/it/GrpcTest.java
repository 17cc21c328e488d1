// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.KeyFile;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.GrpcHost;
import io.talaria.it.programs.GrpcUser;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * gRPC in the clear and with TLS, with the agent on none, on one and on both sides. The server is
 * killed while calls are under way, and another takes its place.
 */
class GrpcTest {
  private static final int CHANNELS = 2;

  @RegisterExtension final Lab lab = new Lab();

  @TempDir static Path dir;
  private static Path keys;

  @BeforeAll
  static void makeKeys() throws Exception {
    keys = KeyFile.make(dir.resolve("keys.p12"));
  }

  static List<Pair> pairs() {
    return Pair.coexistingAndOld();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void servesItsClientAndFailsAsItShould(Pair pair) throws Exception {
    pair.assume();
    Child server = server(pair, 0, 0);
    Event listening = server.await("listening");
    int port = listening.port();
    int tls = (int) listening.number("tls");
    Child client = program(pair, pair.client(), GrpcUser.class, port, tls);
    client.await("used", Duration.ofMinutes(2));
    for (int i = 0; i < CHANNELS; i++) {
      server.await("cancelled");
    }
    Transports.expectEach(pair, server, client, CHANNELS);
    Ss.expect(pair, server, client);

    client.send("stay");
    client.await("staying");
    server.kill();
    client.await("unavailable");

    Child next = server(pair, port, tls);
    next.await("listening");
    client.send("again");
    client.await("back", Duration.ofSeconds(90));
    Transports.expectEach(pair, next, client, CHANNELS);
    lab.stop(client, next);
  }

  private Child server(Pair pair, int port, int tls) throws IOException {
    return program(pair, pair.server(), GrpcHost.class, port, tls);
  }

  /** Without Talaria in between, half the time would go into compiling what is soon over. */
  private Child program(Pair pair, Flavour flavour, Class<?> main, int port, int tls)
      throws IOException {
    ChildSpec spec = lab.child(flavour, main);
    if (!pair.accelerated()) {
      spec.option("-XX:TieredStopAtLevel=1");
    }
    return spec.arg("keys", keys).arg("port", port).arg("tls", tls).start();
  }
}
