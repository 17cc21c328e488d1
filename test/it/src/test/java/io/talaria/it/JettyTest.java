// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.KeyFile;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.JettyHost;
import io.talaria.it.programs.JettyUser;
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
 * Jetty and the JDK's HTTP client: HTTP/1.1 and HTTP/2, each in the clear and with TLS, with the
 * agent on none, on one and on both sides.
 */
class JettyTest {
  /** One for each version of HTTP on each port; HTTP/1.1 has many more. */
  private static final int CONNECTIONS = 4;

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
  @Timeout(value = 240, unit = TimeUnit.SECONDS)
  void answersAreRight(Pair pair) throws Exception {
    pair.assume();
    Child server = lab.child(pair.server(), JettyHost.class).arg("keys", keys).start();
    Event listening = server.await("listening");
    Child client =
        lab.child(pair.client(), JettyUser.class)
            .arg("keys", keys)
            .arg("port", listening.port())
            .arg("tls", listening.number("tls"))
            .start();
    client.await("used", Duration.ofMinutes(2));
    Transports.expectEach(pair, server, client, CONNECTIONS);
    Ss.expect(pair, server, client);
    client.stop();
    server.send("shutdown");
    server.await("shut");
    server.stop();
  }
}
