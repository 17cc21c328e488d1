// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.StreamServer;
import io.talaria.nio.counters.file.ProcessTotals;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Hundreds of connections are under load in both directions from their first moment, so that each
 * direction switches to shared memory at some point in mid-stream, or the connection ends before:
 * nothing is lost and nothing changes its place. Fewer connections would be over before a busy
 * machine has switched one.
 */
class SwitchTest {
  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    Stream<Arguments> none =
        Stream.of(
            Arguments.of(Pair.NONE, "blocking", "selector", 100, 16, 4 << 20),
            Arguments.of(Pair.NONE, "selector", "blocking", 100, 16, 4 << 20));
    return Stream.concat(Settings.fewPairs() ? Stream.of() : none, fast());
  }

  private static Stream<Arguments> fast() {
    return Stream.of(
        Arguments.of(Pair.BOTH, "blocking", "blocking", 600, 16, 256 << 10),
        Arguments.of(Pair.BOTH, "selector", "selector", 600, 16, 256 << 10),
        Arguments.of(Pair.BOTH, "blocking", "selector", 100, 1 << 20, 8 << 20),
        Arguments.of(Pair.BOTH, "selector", "blocking", 100, 1 << 20, 8 << 20),
        Arguments.of(
            new Pair(Flavour.TALARIA_17, Flavour.TALARIA),
            "selector",
            "selector",
            100,
            256 << 10,
            8 << 20),
        Arguments.of(
            new Pair(Flavour.TALARIA, Flavour.TALARIA_17),
            "blocking",
            "blocking",
            100,
            256 << 10,
            8 << 20));
  }

  @ParameterizedTest(name = "{0}, client {2}, server {1}, {3} connections of {4} to {5} bytes")
  @MethodSource("cases")
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void switchesInMidStream(
      Pair pair, String serverIo, String clientIo, long connections, long min, long max)
      throws Exception {
    pair.assume();
    Child server = side(pair.server(), StreamServer.class, serverIo, connections, min, max).start();
    Child client =
        side(pair.client(), StreamClient.class, clientIo, connections, min, max)
            .arg("port", server.await("listening").port())
            .arg("parallel", 8)
            .start();

    Event atServer = server.await("finished", Duration.ofSeconds(100));
    Event atClient = client.await("finished");
    assertThat(atServer.number("connections")).isEqualTo(connections);
    assertThat(atServer.number("received")).isEqualTo(atClient.number("sent"));
    assertThat(atClient.number("received")).isEqualTo(atServer.number("sent"));
    if (pair.accelerated()) {
      for (Child side : List.of(server, client)) {
        ProcessTotals totals = Transports.totals(side);
        assertThat(totals.acceleratedInBytes()).as("in by shared memory").isPositive();
        assertThat(totals.acceleratedOutBytes()).as("out by shared memory").isPositive();
        assertThat(totals.tcpInBytes()).as("in by TCP").isPositive();
        assertThat(totals.tcpOutBytes()).as("out by TCP").isPositive();
      }
      assertThat(Transports.totals(server).acceptedByUs())
          .as("connections that switched")
          .isGreaterThan(connections / 20);
    }
    lab.stop(server, client);
  }

  private ChildSpec side(
      Flavour flavour, Class<?> program, String io, long connections, long min, long max) {
    return lab.child(flavour, program)
        .optimized() // else more is sent before the switch
        .arg("io", io)
        .arg("connections", connections)
        .arg("min", min)
        .arg("max", max)
        .arg("chunk", 64 << 10)
        .arg("end", "random");
  }
}
