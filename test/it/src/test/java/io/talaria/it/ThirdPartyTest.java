// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.thirdparty.Side;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.programs.Catalogue;
import io.talaria.testsupport.Seed;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Third-party servers and clients, a JVM each: several connections at once, whose messages come
 * back whole, and every one of them in shared memory.
 */
@Tag("long")
class ThirdPartyTest {
  private static final int CONNECTIONS = 4;

  /** How often more is sent at most, until all has switched. */
  private static final int MAX_AGAIN = 20;

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    List<Pair> pairs = List.of(Pair.BOTH, new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17));
    return Stream.of(Catalogue.values())
        .flatMap(program -> pairs.stream().map(pair -> Arguments.of(program, pair)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("cases")
  @Timeout(value = 240, unit = TimeUnit.SECONDS)
  void whatIsSentComesBackThroughSharedMemory(Catalogue program, Pair pair) throws Exception {
    pair.assume();
    Child server = side(pair.server(), program).start();
    int port = server.await("listening", Duration.ofMinutes(1)).port();
    long seed = Seed.next();
    System.err.println(program + " with seed=" + seed);
    Child client =
        side(pair.client(), program)
            .arg("port", port)
            .arg("connections", CONNECTIONS)
            .arg("rounds", Settings.scaled(100))
            .arg("seed", seed)
            .start();
    client.await("used", Duration.ofMinutes(2));
    for (int i = 0; i < MAX_AGAIN && !(accelerated(server) && accelerated(client)); i++) {
      client.send("again"); // a direction switches only when it is used
      client.await("used", Duration.ofMinutes(2));
    }
    Transports.expectEach(pair, server, client, CONNECTIONS);
    Ss.expect(pair, server, client);
    lab.stop(client, server);
  }

  private static boolean accelerated(Child side) throws IOException {
    List<ConnectionInfo> all = Transports.of(side);
    return all.size() >= CONNECTIONS
        && all.stream().allMatch(c -> c.transport() == NioTransport.SHM);
  }

  private ChildSpec side(Flavour flavour, Catalogue program) {
    ChildSpec side =
        lab.child(flavour, Side.class)
            .classPath(ClassPath.thirdParty())
            .option("-XX:TieredStopAtLevel=1")
            .arg("program", program.name());
    return program.oldSockets() ? side.property("talaria.sockets", true) : side;
  }
}
