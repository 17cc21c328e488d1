// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.programs.ClosedNeighbour;
import io.talaria.it.programs.PoolCloser;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A connection is closed by a thread of a pool while its selector selects: its neighbour in that
 * selector is heard all the same.
 */
@Tag("transport")
class ClosedNeighbourTest {
  private static final Pair OLD = new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17);

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    if (Settings.fewPairs()) {
      return Stream.of(
          Arguments.of(Pair.BOTH, "close", null),
          Arguments.of(Pair.BOTH, "shutdown", "0"),
          Arguments.of(OLD, "shutdown", null));
    }
    return Stream.of(
        Arguments.of(Pair.NONE, "close", null),
        Arguments.of(Pair.BOTH, "close", null),
        Arguments.of(Pair.BOTH, "close", "0"),
        Arguments.of(Pair.BOTH, "shutdown", null),
        Arguments.of(Pair.BOTH, "shutdown", "0"),
        Arguments.of(OLD, "close", null),
        Arguments.of(OLD, "shutdown", null));
  }

  @ParameterizedTest(name = "{0}, by {1}, talaria.spin.ns={2}")
  @MethodSource("cases")
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void isHeard(Pair pair, String end, String spin) throws Exception {
    pair.assume();
    Child server =
        lab.child(pair.server(), PoolCloser.class).property("talaria.spin.ns", spin).start();
    Child client =
        lab.child(pair.client(), ClosedNeighbour.class)
            .property("talaria.spin.ns", spin)
            .arg("port", server.await("listening").port())
            .arg("rounds", Settings.scaled(300))
            .arg("end", end)
            .start();
    Event used = client.await("used", Duration.ofSeconds(100));
    if (pair.accelerated()) {
      assertThat(used.number("accelerated")).isGreaterThan(used.number("rounds") / 2);
    }
    lab.stop(client, server);
  }
}
