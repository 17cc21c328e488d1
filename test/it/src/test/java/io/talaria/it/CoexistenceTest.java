// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Talk;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs with and without the agent talk to each other, whichever speaks first, and read exactly
 * the bytes that the other program wrote: before, while and after the transport of the connection
 * is settled.
 */
class CoexistenceTest {
  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    return Pair.coexisting().stream()
        .flatMap(
            pair ->
                Stream.of("client", "server")
                    .flatMap(
                        first ->
                            Stream.of("blocking", "selector")
                                .map(io -> Arguments.of(pair, first, io))));
  }

  @ParameterizedTest(name = "{0}, the {1} speaks first, {2}")
  @MethodSource("cases")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void talk(Pair pair, String first, String io) throws Exception {
    pair.assume();
    Child server = side(pair.server(), "server", first, io).start();
    Child client =
        side(pair.client(), "client", first, io)
            .arg("port", server.await("listening").port())
            .start();
    server.await("talked");
    client.await("talked");
    for (int part = 0; part < 3; part++) {
      Transports.use(pair, server, client, "again", "talked");
    }
    server.send("end");
    client.send("end");
    server.await("ended");
    client.await("ended");
    lab.stop(server, client);
  }

  /** The upgrade may come too late then; the bytes may not. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void talkWhileTheListenerCloses(Pair pair) throws Exception {
    pair.assume();
    Child server =
        side(pair.server(), "server", "server", "selector").arg("listener", "close").start();
    Child client =
        side(pair.client(), "client", "server", "blocking")
            .arg("port", server.await("listening").port())
            .start();
    for (int part = 0; part < 5; part++) {
      server.await("talked");
      client.await("talked");
      server.send(part < 4 ? "again" : "end");
      client.send(part < 4 ? "again" : "end");
    }
    server.await("ended");
    client.await("ended");
    lab.stop(server, client);
  }

  static List<Pair> pairs() {
    return Pair.noneAndBoth();
  }

  private ChildSpec side(Flavour flavour, String role, String first, String io) {
    return lab.child(flavour, Talk.class)
        .arg("role", role)
        .arg("first", role.equals(first) ? "me" : "you")
        .arg("io", io)
        .arg("rounds", 200)
        .arg("bytes", 1000);
  }
}
