// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.VirtualReaders;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
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
 * Ten thousand virtual threads in each of two processes, each in a blocking read on a connection of
 * its own, run on the few carriers there are.
 */
@Tag("alone")
class VirtualThreadsTest {
  private static final int FEW = 100;
  private static final int CONNECTIONS = 10_000;

  /** What a process needs beside its connections. */
  private static final int OTHER_DESCRIPTORS = 200;

  /** Carriers, pollers and compilers come and go; ten thousand readers must not add to them. */
  private static final int MORE_PLATFORM_THREADS = 8;

  /** Longer than any class loading, shorter than anything that waits. */
  private static final long PINNED_MS = 400;

  private static final Duration LONG = Duration.ofSeconds(90);

  @RegisterExtension final Lab lab = new Lab();

  private Child server;
  private Child client;

  static Stream<Arguments> ways() {
    return Pair.noneAndBoth().stream()
        .flatMap(
            pair ->
                (pair.accelerated() ? Stream.of("channel", "stream") : Stream.of("channel"))
                    .map(how -> Arguments.of(pair, how)));
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("ways")
  @Timeout(value = 400, unit = TimeUnit.SECONDS)
  void tenThousandReadersWaitAndAreAnswered(Pair pair, String how) throws Exception {
    pair.assume();
    long allowed = Proc.hardDescriptorLimit();
    assumeTrue(
        allowed >= CONNECTIONS + OTHER_DESCRIPTORS,
        "a process may have " + allowed + " descriptors only");
    server =
        lab.child(pair.server(), VirtualReaders.class)
            .arg("role", "server")
            .arg("how", how)
            .arg("backlog", 4096)
            .start();
    client =
        lab.child(pair.client(), VirtualReaders.class)
            .arg("how", how)
            .arg("port", server.await("listening").port())
            .start();

    connect(FEW);
    rounds(pair, FEW);
    long serverThreads = report(server).number("platform");
    long clientThreads = report(client).number("platform");

    connect(CONNECTIONS - FEW);
    rounds(pair, CONNECTIONS);
    for (Child side : List.of(server, client)) {
      Event report = report(side);
      assertThat(report.number("waiting")).as("%s waits", side).isEqualTo(CONNECTIONS);
      assertThat(report.number("pinnedMs")).as("longest pinning").isLessThan(PINNED_MS);
      assertThat(report.number("platform"))
          .as("platform threads of %s", side)
          .isLessThanOrEqualTo(
              (side == server ? serverThreads : clientThreads) + MORE_PLATFORM_THREADS);
    }
    lab.stop(client, server);
  }

  private void connect(int connections) throws Exception {
    client.send("connect " + connections);
    client.await("connected", LONG);
  }

  /** A reader that sleeps consents to shared memory with the next byte, so there are rounds. */
  private void rounds(Pair pair, int connections) throws Exception {
    final long deadlineNs = System.nanoTime() + LONG.toNanos();
    do {
      round();
    } while (pair.accelerated() && !accelerated(connections) && System.nanoTime() < deadlineNs);
    if (pair.accelerated()) {
      for (Child side : List.of(server, client)) {
        Transports.awaitAll(side, VirtualThreadsTest::fast, connections, "accelerated");
      }
      round();
    }
    // The last readers are on their way back into their reads.
    while ((report(server).number("waiting") < connections
            || report(client).number("waiting") < connections)
        && System.nanoTime() < deadlineNs) {
      Thread.sleep(50);
    }
  }

  private void round() throws Exception {
    client.send("round");
    client.await("answered", LONG);
  }

  private boolean accelerated(int connections) throws Exception {
    for (Child side : List.of(server, client)) {
      if (Transports.of(side).stream().filter(VirtualThreadsTest::fast).count() < connections) {
        return false;
      }
    }
    return true;
  }

  private static boolean fast(ConnectionInfo connection) {
    return connection.transport() == NioTransport.SHM && connection.reason() == Reason.SAME_HOST;
  }

  private static Event report(Child child) throws Exception {
    child.send("report");
    return child.await("report");
  }
}
