// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static io.talaria.messaging.engine.RunningNodes.rests;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Request;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** As many receivers of VIRTUAL run as may: what waits then, and what does not. */
@Timeout(180)
class VirtualMaximumTest {
  private static final int MOST = 3;

  record Slow(int number) {}

  record Quick(int number) {}

  record Nested(long value) {}

  record Inner(long value) {}

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;
  private LocalNode third;
  private final CountDownLatch stuck = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger mostRunning = new AtomicInteger();
  private final AtomicInteger slow = new AtomicInteger();
  private final AtomicInteger quick = new AtomicInteger();

  private NodeOptions options(int id) {
    return TestOptions.of(id, Transport.SHM, directory)
        .dataRingBytes(32 << 10)
        .maxVirtualThreads(MOST)
        .sendTimeout(Duration.ofSeconds(30))
        .receive(Slow.class, Dispatch.VIRTUAL, (message, from) -> takeSlowly())
        .receive(Quick.class, Dispatch.INLINE, (message, from) -> quick.incrementAndGet())
        .handle(Nested.class, Dispatch.VIRTUAL, VirtualMaximumTest::handle)
        .handle(Inner.class, Dispatch.INLINE, (inner, request) -> request.respond(inner));
  }

  private void takeSlowly() throws InterruptedException {
    mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
    boolean opened = stuck.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    Thread.yield();
    running.decrementAndGet();
    if (!opened) {
      throw new IllegalStateException("the test did not let it continue");
    }
    slow.incrementAndGet();
  }

  private static void handle(Nested nested, Request request) throws MessagingException {
    request.respond(request.from().request(new Inner(nested.value()), Inner.class, LIMIT));
  }

  private void start() throws Exception {
    near = RunningNodes.start(options(1));
    far = RunningNodes.start(options(2));
    third = RunningNodes.start(options(3));
    for (LocalNode each : List.of(near, third)) {
      assertThat(ask(each, 2, 1)).isEqualTo(1);
    }
  }

  private static long ask(LocalNode from, int to, long value) throws MessagingException {
    return from.peer(to).request(new Inner(value), Inner.class, LIMIT).value();
  }

  @AfterEach
  void close() {
    stuck.countDown();
    RunningNodes.close(near, far, third);
  }

  @Test
  void whatHasNoThreadWaitsInTheRingWithAllBehindItAndNothingElse() throws Exception {
    start();
    Peer peer = near.peer(2);
    for (int i = 0; i < 2 * MOST; i++) {
      peer.send(new Slow(i));
    }
    long behind = peer.send(new Quick(0));
    await(() -> running.get() == MOST && far.remote(1).connection().receiver().stalled);
    await(() -> rests(far));
    assertThat(quick.get()).as("behind the one without a thread").isZero();
    assertThat(ask(far, 1, 2)).as("its responses are read").isEqualTo(2);
    for (int i = 0; i < 1_000; i++) {
      assertThat(ask(third, 2, i)).isEqualTo(i);
      third.peer(2).send(new Quick(i));
    }
    await(() -> quick.get() == 1_000);
    assertThat(running.get()).isEqualTo(MOST);
    stuck.countDown();
    assertThat(peer.awaitDelivered(behind, LIMIT)).isTrue();
    await(() -> slow.get() == 2 * MOST && quick.get() == 1_001);
    assertThat(mostRunning.get()).isEqualTo(MOST);
  }

  @Test
  void oneThreadThatReturnsLetsTheNextMessageIn() throws Exception {
    start();
    stuck.countDown(); // each runs for a moment only
    int all = 3_000;
    for (int i = 0; i < all; i++) {
      near.peer(2).send(new Slow(i));
      third.peer(2).send(new Slow(i));
    }
    await(() -> slow.get() == 2 * all);
    assertThat(mostRunning.get()).isBetween(1, MOST);
    await(() -> rests(far));
  }

  @Test
  void requestHandlersAtTheMaximumMayWaitForResponsesOfTheSameNode() throws Exception {
    start();
    List<ResponseFuture<Inner>> open = new ArrayList<>();
    for (int i = 0; i < 40 * MOST; i++) {
      open.add(near.peer(2).requestAsync(new Nested(i), Inner.class, LIMIT));
    }
    for (int i = 0; i < open.size(); i++) {
      assertThat(open.get(i).await(LIMIT).value()).isEqualTo(i);
    }
  }

  @Test
  void aNodeClosesWhileTheMaximumRuns() throws Exception {
    start();
    for (int i = 0; i < 2 * MOST; i++) {
      near.peer(2).send(new Slow(i));
    }
    await(() -> running.get() == MOST && far.remote(1).connection().receiver().stalled);
    assertThat(near.close(Duration.ofMillis(200))).as("bytes that were not delivered").isPositive();
    far.close(Duration.ofMillis(200));
    await(() -> !far.poller().isAlive() && !((Thread) far.connector()).isAlive());
    assertThat(running.get()).isEqualTo(MOST);
  }
}
