// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Restless;
import io.talaria.it.programs.ZooKeeperHost;
import io.talaria.it.programs.ZooKeeperSessions;
import io.talaria.testsupport.Seed;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sessions of one ZooKeeper client come and go, closed by the server's workers while its selector
 * thread selects. Their neighbours in the same selector are answered all the same, also on a
 * machine that never rests.
 */
class ZooKeeperSessionsTest {
  private static final Pair OLD = new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17);

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    if (Settings.fewPairs()) {
      return Stream.of(
          Arguments.of(Pair.BOTH, 2, true),
          Arguments.of(Pair.BOTH, 8, false),
          Arguments.of(OLD, 2, false));
    }
    return Stream.of(
        Arguments.of(Pair.NONE, 8, false),
        Arguments.of(Pair.BOTH, 2, false),
        Arguments.of(Pair.BOTH, 2, true),
        Arguments.of(Pair.BOTH, 8, false),
        Arguments.of(Pair.BOTH, 8, true),
        Arguments.of(OLD, 2, false),
        Arguments.of(OLD, 8, true));
  }

  @ParameterizedTest(name = "{0}, {1} sessions, busy machine: {2}")
  @MethodSource("cases")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void neighboursOfClosedSessionsAreAnswered(Pair pair, int sessions, boolean busy)
      throws Exception {
    pair.assume();
    long seed = Seed.next();
    System.out.printf("%s, %d sessions, busy: %s, seed %d%n", pair, sessions, busy, seed);
    Child server =
        lab.child(pair.server(), ZooKeeperHost.class)
            .arg("dir", Files.createDirectory(lab.scratch().resolve("zookeeper")))
            .start();
    for (int i = 0; busy && i < 2; i++) {
      lab.child(Flavour.PLAIN, Restless.class).start().await("turning");
    }
    Child client =
        lab.child(pair.client(), ZooKeeperSessions.class)
            .arg("port", server.await("listening").port())
            .arg("sessions", sessions)
            .arg("rounds", Settings.scaled(200 / sessions))
            .arg("seed", seed)
            .start();
    client.await("opened", Duration.ofSeconds(90)); // each session may take 25 s
    Transports.expect(pair, server, client);
    expectAnswers(server, client);
    client.send("close");
    client.await("closed");
    server.send("shutdown");
    server.await("shut");
    lab.stop(client, server);
  }

  /** A request that stays unanswered is told with both processes as they were meanwhile. */
  private static void expectAnswers(Child server, Child client) throws Exception {
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(150).toNanos();
    for (Event used = null; used == null; used = client.poll("used")) {
      Event silent = client.poll("silent");
      if (silent != null) {
        String state = server.dump() + Transports.describe(Transports.of(server));
        client.send("go on");
        Event late = client.await("late");
        throw new AssertionError("late: " + late.values() + "; the server meanwhile:\n" + state);
      }
      assertThat(client.alive())
          .as("%s is alive; it said:\n%s", client, client.errorText())
          .isTrue();
      assertThat(System.nanoTime()).as("time").isLessThan(deadlineNs);
    }
  }
}
