// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.ZooKeeperHost;
import io.talaria.it.programs.ZooKeeperUser;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** ZooKeeper's NIO server and its client, with the agent on none, on one and on both sides. */
class ZooKeeperTest {
  @RegisterExtension final Lab lab = new Lab();

  static List<Pair> pairs() {
    return Pair.coexisting();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void servesItsClient(Pair pair) throws Exception {
    Child server =
        lab.child(pair.server(), ZooKeeperHost.class)
            .arg("dir", Files.createDirectory(lab.scratch().resolve("zookeeper")))
            .start();
    Child client =
        lab.child(pair.client(), ZooKeeperUser.class)
            .arg("port", server.await("listening").port())
            .arg("rounds", Settings.scaled(1000))
            .start();
    client.await("used", Duration.ofSeconds(90));
    Transports.expect(pair, server, client);
    Ss.expect(pair, server, client);
    client.send("close");
    client.await("closed");
    server.send("shutdown");
    server.await("shut");
    lab.stop(client, server);
  }
}
