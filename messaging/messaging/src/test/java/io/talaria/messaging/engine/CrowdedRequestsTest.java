// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import io.talaria.messaging.engine.WakeUps.Inline;
import io.talaria.messaging.engine.WakeUps.Ordered;
import io.talaria.messaging.node.LocalNode;
import io.talaria.testsupport.Seed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests, one behind the other, beside threads that never rest, while either process is stopped
 * for moments: a waiting thread may lose its core anywhere. Neither node asks whether the other
 * lives, so a wake-up that is lost stays lost, and is shown.
 */
@Timeout(300)
class CrowdedRequestsTest {
  private static final int RING_BYTES = 64 << 10;
  private static final int SHORT_S = 3;
  private static final int LONG_S = Integer.getInteger("talaria.test.asks.seconds", 20);

  /** Guards against hanging: no response is that late unless it never comes. */
  private static final long LOST_NS = Long.getLong("talaria.test.lost.ms", 60_000) * 1_000_000;

  private final long seed = Seed.next();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicLong longestNs = new AtomicLong();
  private volatile boolean over;

  @TempDir Path directory;
  private FarNode far;
  private LocalNode near;

  @AfterEach
  void end() throws Exception {
    over = true;
    if (far != null) {
      far.close();
    }
    if (near != null) {
      near.close(Duration.ZERO);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void noResponseIsWaitedForForEver(Transport transport) throws Exception {
    requestInACrowd(transport, 1, SHORT_S);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"SHM, 1", "SHM, 3", "UCX, 1", "UCX, 3", "VERBS, 1", "VERBS, 3"})
  void norInALongRun(Transport transport, int threads) throws Exception {
    requestInACrowd(transport, threads, LONG_S);
  }

  private void requestInACrowd(Transport transport, int askers, int seconds) throws Exception {
    WakeUps.assume(transport);
    far = FarNode.start(transport, RING_BYTES, directory);
    near = WakeUps.start(1, transport, RING_BYTES, directory, far.port);
    for (int i = Runtime.getRuntime().availableProcessors(); i > 0; i--) {
      Thread.ofPlatform().daemon().start(this::neverRest);
    }
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    AtomicLong responses = new AtomicLong();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < askers; i++) {
      Random random = new Random(seed + i);
      all.add(Thread.ofPlatform().start(() -> requestUntil(end, random, responses)));
    }
    Random random = new Random(seed - 1);
    long came = 0;
    long cameNs = System.nanoTime();
    while (all.stream().anyMatch(Thread::isAlive)) {
      LockSupport.parkNanos(1_000_000L << random.nextInt(6));
      if (random.nextInt(8) == 0) {
        far.stopForAMoment(random);
      } else if (random.nextInt(8) == 0) {
        far.stopCallerForAMoment(random);
      }
      if (responses.get() != came) {
        came = responses.get();
        cameNs = System.nanoTime();
      } else if (System.nanoTime() - cameNs > LOST_NS) {
        showAndFail(came);
      }
    }
    over = true;
    System.out.printf(
        "%s, %d: %d responses, the longest wait %d ms%n",
        transport, askers, responses.get(), longestNs.get() / 1_000_000);
    assertThat(failure.get()).as("seed %d", seed).isNull();
    assertThat(responses.get()).isPositive();
    far.end();
  }

  private void neverRest() {
    while (!over) {
      Thread.onSpinWait();
    }
  }

  private void requestUntil(long end, Random random, AtomicLong responses) {
    Peer peer = near.peer(2);
    try {
      for (long i = 0; System.nanoTime() - end < 0; i++) {
        if (random.nextInt(64) == 0) {
          LockSupport.parkNanos(1L << random.nextInt(20));
        }
        long asked = System.nanoTime();
        long response = random.nextBoolean() ? inline(peer, i) : ordered(peer, i);
        longestNs.accumulateAndGet(System.nanoTime() - asked, Math::max);
        assertThat(response).isEqualTo(i);
        responses.incrementAndGet();
      }
    } catch (MessagingException | RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }

  private static long inline(Peer peer, long value) throws MessagingException {
    return peer.request(new Inline(value), Inline.class, WakeUps.LIMIT).value();
  }

  private static long ordered(Peer peer, long value) throws MessagingException {
    return peer.request(new Ordered(value), Ordered.class, WakeUps.LIMIT).value();
  }

  private void showAndFail(long came) throws Exception {
    String here = WakeUps.state(near);
    far.tell();
    LockSupport.parkNanos(5_000_000_000L); // while it tells
    throw new AssertionError(
        "seed " + seed + ", nothing after " + came + " responses:\n" + here + "\n" + far.said());
  }
}
