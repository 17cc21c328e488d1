// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Modes;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.programs.Allocation;
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
@Tag("fabric")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class AllocationTest {
  private static final int ROUNDS = 5_000;

  /** Less than one byte a round: what the measurement itself and the JVM may add. */
  private static final long NOISE_BYTES = 4096;

  /** On Java 17 a thread that sleeps has the JVM tell it whether shared memory has gone. */
  private static final long BYTES_ON_17 = 64;

  /** On UCX a thread that sleeps meets the caretaker in the worker's lock, which queues it. */
  private static final long BYTES_ON_UCX = 64;

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> cases() {
    return Stream.of(
        Arguments.of(Pair.BOTH, "blocking", "direct"),
        Arguments.of(Pair.BOTH, "selectNow", "direct"),
        Arguments.of(Pair.BOTH, "select", "heap"),
        Arguments.of(Pair.BOTH, "consumer", "direct"),
        Arguments.of(new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17), "blocking", "heap"),
        Arguments.of(new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17), "select", "direct"));
  }

  @ParameterizedTest(name = "{0}, {1}, {2}")
  @MethodSource("cases")
  void steadyStateAllocatesNothing(Pair pair, String wait, String buffers) throws Exception {
    long[] bytes = measure(pair, wait, buffers, "no");
    long most = most(pair, wait);
    assertThat(bytes[0]).as("bytes in %d rounds of the server", ROUNDS).isLessThan(most);
    assertThat(bytes[1]).as("bytes in %d rounds of the client", ROUNDS).isLessThan(most);
  }

  private static long most(Pair pair, String wait) {
    if (pair.server() == Flavour.TALARIA_17) {
      return ROUNDS * BYTES_ON_17;
    }
    return Settings.fabric().isPresent() && wait.equals("blocking")
        ? ROUNDS * BYTES_ON_UCX
        : NOISE_BYTES;
  }

  /** Shows that the measurement would notice. */
  @Test
  void smallestAllocationIsNoticed() throws Exception {
    long[] bytes = measure(Pair.NONE, "blocking", "direct", "yes");
    assertThat(bytes[0]).isGreaterThan(16L * ROUNDS);
    assertThat(bytes[1]).isGreaterThan(16L * ROUNDS);
  }

  private long[] measure(Pair pair, String wait, String buffers, String wasteful) throws Exception {
    pair.assume();
    Child server = side(pair.server(), wait, buffers, wasteful).arg("role", "server").start();
    Child client =
        side(pair.client(), wait, buffers, wasteful)
            .arg("port", server.await("listening").port())
            .start();
    client.await("connected");
    server.await("accepted");
    Modes.use(pair, server, client, "go", "measured");
    long[] last = new long[2];
    for (int i = 0; i < 6; i++) {
      for (Child side : List.of(server, client)) {
        side.send("go");
      }
      last[0] = server.await("measured").number("bytes");
      last[1] = client.await("measured").number("bytes");
    }
    lab.stop(client, server);
    return last;
  }

  private ChildSpec side(Flavour flavour, String wait, String buffers, String wasteful) {
    return lab.child(flavour, Allocation.class)
        .arg("rounds", ROUNDS)
        .arg("wait", wait)
        .arg("buffers", buffers)
        .arg("wasteful", wasteful);
  }
}
