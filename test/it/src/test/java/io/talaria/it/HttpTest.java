// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.HttpHost;
import io.talaria.it.programs.HttpUser;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The JDK's HTTP client against an HTTP server on Netty, with the agent on none, on one and on both
 * sides.
 */
class HttpTest {
  @RegisterExtension final Lab lab = new Lab();

  static List<Pair> pairs() {
    return Pair.coexisting();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void answersAreRight(Pair pair) throws Exception {
    Child server = lab.child(pair.server(), HttpHost.class).start();
    Child client =
        lab.child(pair.client(), HttpUser.class)
            .arg("port", server.await("listening").port())
            .arg("turns", Settings.scaled(500))
            .arg("crowd", Settings.scaled(300))
            .arg("posts", 64)
            .start();
    client.await("used", Duration.ofSeconds(90));
    Transports.expect(pair, server, client);
    Ss.expect(pair, server, client);
    lab.stop(client, server);
  }
}
