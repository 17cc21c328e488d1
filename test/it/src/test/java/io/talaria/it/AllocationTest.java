// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Allocation;
import io.talaria.nio.NioTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads, writes and selects of an accelerated connection allocate nothing in steady state. */
@Tag("transport")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class AllocationTest {
  private static final int ROUNDS = 5_000;

  /** Less than one byte a round: what the measurement itself and the JVM may add. */
  private static final long NOISE_BYTES = 4096;

  /** For one that is not waited for to be steady. */
  private static final long ANY_BYTES = Long.MAX_VALUE;

  /** On Java 17 a thread that sleeps has the JVM tell it whether shared memory has gone. */
  private static final long BYTES_ON_17 = 64;

  /** JUCX makes an object for each send and each receive. */
  private static final long BYTES_BY_JUCX = 2 * 100;

  /**
   * How often it is measured at most until it is steady: what a thread that sleeps now and then
   * calls is compiled late, and until then makes objects that the compiler does without.
   */
  private static final int MAX_TIMES = 60;

  private static final int MIN_TIMES = 6;

  /** So many measurements, one after the other, are to show that nothing is allocated. */
  private static final int STEADY_TIMES = 3;

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    Pair old = new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17);
    Stream<Arguments> some =
        Stream.of(
            Arguments.of(Pair.BOTH, "blocking", "direct"),
            Arguments.of(Pair.BOTH, "select", "heap"),
            Arguments.of(old, "select", "direct"));
    return Settings.fewPairs()
        ? some
        : Stream.concat(
            some,
            Stream.of(
                Arguments.of(Pair.BOTH, "selectNow", "direct"),
                Arguments.of(Pair.BOTH, "consumer", "direct"),
                Arguments.of(old, "blocking", "heap")));
  }

  @ParameterizedTest(name = "{0}, {1}, {2}")
  @MethodSource("cases")
  void steadyStateAllocatesNothing(Pair pair, String wait, String buffers) throws Exception {
    long most = most(pair);
    assertThat(measure(pair, wait, buffers, "no", most))
        .as("bytes in %d rounds", ROUNDS)
        .allMatch(bytes -> bytes < most);
  }

  private static long most(Pair pair) {
    if (pair.server() != Flavour.TALARIA_17) {
      return NOISE_BYTES;
    }
    return ROUNDS * (BYTES_ON_17 + (Settings.fast() == NioTransport.UCX ? BYTES_BY_JUCX : 0));
  }

  /** Shows that the measurement would notice. */
  @Test
  void smallestAllocationIsNoticed() throws Exception {
    assertThat(measure(Pair.NONE, "blocking", "direct", "yes", ANY_BYTES))
        .allMatch(bytes -> bytes > 16L * ROUNDS);
  }

  /**
   * Measures until no more is allocated than may be, or it seems to stay so; gives the bytes of the
   * last few times, on the side that allocated more.
   */
  private List<Long> measure(Pair pair, String wait, String buffers, String wasteful, long most)
      throws Exception {
    pair.assume();
    Child server = side(pair.server(), wait, buffers, wasteful).arg("role", "server").start();
    Child client =
        side(pair.client(), wait, buffers, wasteful)
            .arg("port", server.await("listening").port())
            .start();
    client.await("connected");
    server.await("accepted");
    Transports.use(pair, server, client, "go", "measured");
    List<Long> measured = new ArrayList<>();
    int steady = 0;
    while (measured.size() < MIN_TIMES || (steady < STEADY_TIMES && measured.size() < MAX_TIMES)) {
      for (Child side : List.of(server, client)) {
        side.send("go");
      }
      long bytes =
          Math.max(
              server.await("measured").number("bytes"), client.await("measured").number("bytes"));
      measured.add(bytes);
      steady = bytes < most ? steady + 1 : 0;
    }
    lab.stop(client, server);
    return measured.subList(measured.size() - STEADY_TIMES, measured.size());
  }

  private ChildSpec side(Flavour flavour, String wait, String buffers, String wasteful) {
    return lab.child(flavour, Allocation.class)
        .optimized() // which does without objects that others make
        .arg("rounds", ROUNDS)
        .arg("wait", wait)
        .arg("buffers", buffers)
        .arg("wasteful", wasteful);
  }
}
