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
import io.talaria.it.programs.Chatter;
import io.talaria.it.programs.SelectTimes;
import io.talaria.nio.NioTransport;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A select lasts as long as it was asked to, ends at a wake-up, and never returns with nothing
 * because of what goes on below: doorbells, data that nobody is interested in, a full connection.
 */
@Tag("transport")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("alone")
class SelectorTest {
  private static final long MS = 1_000_000;

  /** On UCX no time is measured, only that select ends. */
  private static final long LATE_MS = Settings.fast() == NioTransport.UCX ? 10_000 : 25;

  /** As late as so many sleeps of this machine, now. */
  private static final int LATE_SLEEPS = 4;

  @RegisterExtension final Lab lab = new Lab();

  private Child peer;
  private Child selecting;

  static List<Pair> pairs() {
    List<Pair> fast = List.of(Pair.BOTH, new Pair(Flavour.TALARIA_17, Flavour.TALARIA_17));
    return Settings.fewPairs() ? fast : Stream.concat(Stream.of(Pair.NONE), fast.stream()).toList();
  }

  private void connect(Pair pair) throws Exception {
    pair.assume();
    peer = lab.child(pair.server(), Chatter.class).arg("role", "server").start();
    selecting =
        lab.child(pair.client(), SelectTimes.class)
            .arg("port", peer.await("listening").port())
            .start();
    selecting.await("connected");
    peer.await("accepted");
    Transports.use(pair, peer, selecting, "greet", "greeted");
    peer.send("go");
    selecting.send("go");
  }

  private void assertWaits(long limitMs, int times) throws IOException, InterruptedException {
    selecting.send("wait " + limitMs + " " + times);
    Event waited = selecting.await("waited");
    assertThat(waited.number("shortest")).as("shortest select").isGreaterThan((limitMs - 1) * MS);
    // On a busy machine the system lets everybody sleep longer.
    long late = Math.max(0, waited.number("slept") - limitMs * MS);
    assertThat(waited.number("median"))
        .as("median select; a sleep of the same length was late by %s ns", late)
        .isLessThan((limitMs + LATE_MS) * MS + LATE_SLEEPS * late);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void timeLimitIsKept(Pair pair) throws Exception {
    connect(pair);
    assertWaits(1, 30);
    assertWaits(10, 20);
    assertWaits(150, 4);
    lab.stop(selecting, peer);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void timeLimitIsKeptWhileDataArrivesThatNobodyWants(Pair pair) throws Exception {
    connect(pair);
    selecting.send("interest 0");
    selecting.await("interested");
    peer.send("chat 2000");
    assertWaits(50, 8);
    peer.await("chatted");
    assertWaits(150, 2);
    selecting.send("interest " + SelectionKey.OP_READ);
    selecting.await("interested");
    selecting.send("hear 2000");
    selecting.await("heard");
    lab.stop(selecting, peer);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void neverReturnsEmptyUnderTraffic(Pair pair) throws Exception {
    connect(pair);
    selecting.send("hear 10000");
    peer.send("chat 10000");
    peer.await("chatted");
    assertThat(selecting.await("heard").number("empty")).as("empty returns").isZero();
    lab.stop(selecting, peer);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void wakeUpsAreNotLost(Pair pair) throws Exception {
    connect(pair);
    selecting.send("wake 200");
    selecting.await("woken");
    assertWaits(20, 3);
    lab.stop(selecting, peer);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void fullConnectionBecomesWritableWhenDrained(Pair pair) throws Exception {
    connect(pair);
    selecting.send("fill");
    long filled = selecting.await("filled").number("bytes");
    assertThat(filled).as("bytes taken unread").isGreaterThan(1 << 20);
    assertWaits(50, 4);
    selecting.send("free");
    peer.send("drain " + filled);
    selecting.await("free");
    peer.await("drained");
    lab.stop(selecting, peer);
  }
}
