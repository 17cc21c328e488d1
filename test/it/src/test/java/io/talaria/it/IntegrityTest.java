// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.StreamServer;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
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
 * Large streams in both directions at once arrive whole: random sizes and pauses, heap, direct and
 * read-only buffers, scattering and gathering.
 */
@Tag("transport")
class IntegrityTest {
  private static final long GIGABYTE = 1L << 30;

  private static final long MIN_BYTES = GIGABYTE / 8;

  /** So much of a stream may go before the switch; then it goes slowly, until that has come. */
  private static final int HELD_PART = 8;

  /** Of a byte each. */
  private static final long MAX_GREETINGS = 100_000;

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    return Stream.of("blocking", "selector")
        .flatMap(
            io ->
                Pair.everyJava().stream()
                    .map(
                        pair ->
                            Arguments.of(
                                pair, io, pair.equals(Pair.BOTH) ? GIGABYTE : GIGABYTE / 8)));
  }

  @ParameterizedTest(name = "{0}, {1}, {2} bytes each way")
  @MethodSource("cases")
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void bothDirectionsArriveWhole(Pair pair, String io, long bytes) throws Exception {
    pair.assume();
    boolean ucx = Settings.fast() == NioTransport.UCX;
    long total = ucx ? Settings.scaled(bytes / 4) : Math.max(Settings.scaled(bytes), MIN_BYTES);
    Child server =
        lab.child(pair.server(), StreamServer.class)
            .optimized() // else more is sent before the switch
            .arg("io", io)
            .arg("min", total)
            .arg("max", total)
            .arg("pauseEvery", 1000)
            .arg("keep", "yes")
            .arg("greet", ucx ? "yes" : "no")
            .arg("slow", ucx ? 0 : total / HELD_PART)
            .start();
    Child client =
        lab.child(pair.client(), StreamClient.class)
            .optimized()
            .arg("io", io)
            .arg("port", server.await("listening").port())
            .arg("min", total)
            .arg("max", total)
            .arg("pauseEvery", 1000)
            .arg("keep", "yes")
            .arg("greet", ucx ? "yes" : "no")
            .arg("slow", ucx ? 0 : total / HELD_PART)
            .start();
    if (ucx) { // which may be loaded when all is over
      Transports.use(pair, server, client, "greet", "greeted");
    } else { // else half may be over before a busy machine has switched both outputs
      Transports.expect(pair, server, client);
    }
    server.send("go");
    client.send("go");

    Event atServer = server.await("finished", Duration.ofSeconds(200));
    Event atClient = client.await("finished");
    assertThat(atServer.number("received")).isEqualTo(total);
    assertThat(atClient.number("received")).isEqualTo(total);
    Transports.expect(pair, server, client);
    if (pair.accelerated()) {
      for (Child side : List.of(server, client)) {
        ConnectionInfo counted = Transports.of(side).get(0);
        long most = total + (ucx ? MAX_GREETINGS : 0);
        assertThat(counted.inBytes()).as("counted in").isBetween(total, most);
        assertThat(counted.outBytes()).as("counted out").isBetween(total, most);
        assertThat(counted.acceleratedInBytes()).as("in by shared memory").isGreaterThan(total / 2);
        assertThat(counted.acceleratedOutBytes())
            .as("out by shared memory")
            .isGreaterThan(total / 2);
      }
    }
    server.send("close");
    client.send("close");
    server.await("closed");
    client.await("closed");
    lab.stop(server, client);
  }
}
