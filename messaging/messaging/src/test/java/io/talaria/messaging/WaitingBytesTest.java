// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Tagged;
import io.talaria.messaging.Messages.Text;
import io.talaria.messaging.MessagingException.Code;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What waits for a slow receiver of large messages has a limit in bytes. */
@Timeout(180)
class WaitingBytesTest {
  private static final int RING = 64 << 10;
  private static final int MOST = 1 << 20;

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private Node there;
  private final CountDownLatch stuck = new CountDownLatch(1);
  private final AtomicLong begun = new AtomicLong();
  private final AtomicLong slow = new AtomicLong();
  private final AtomicLong slowBytes = new AtomicLong();
  private final AtomicLong outOfOrder = new AtomicLong();
  private final AtomicLong quick = new AtomicLong();
  private final CountDownLatch blocked = new CountDownLatch(1);
  private final CountDownLatch blocks = new CountDownLatch(1);

  @AfterEach
  void close() {
    stuck.countDown();
    blocked.countDown();
    if (nodes != null) {
      nodes.close();
    }
  }

  private void takeSlowly(Tagged message, boolean ordered) throws InterruptedException {
    begun.incrementAndGet();
    await(stuck);
    slowBytes.addAndGet(message.rest().length);
    if (slow.getAndIncrement() != message.sequence() && ordered) {
      outOfOrder.incrementAndGet();
    }
  }

  private void blockPoller() throws InterruptedException {
    blocks.countDown();
    await(blocked);
  }

  private Node start(Variant variant, Dispatch dispatch, int most) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    there =
        nodes.start(
            nodes
                .options(2)
                .dataRingBytes(RING)
                .maxWaitingBytes(most)
                .handlers(2)
                .maxHandlers(2)
                .type(Response.class)
                .receive(
                    Tagged.class,
                    dispatch,
                    (message, from) -> takeSlowly(message, dispatch != Dispatch.CONCURRENT))
                .receive(Text.class, Dispatch.INLINE, (text, from) -> quick.incrementAndGet())
                .handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) -> request.respond(new Response(pair.first() + 1))));
    assertThat(there.id()).isEqualTo(2);
    return nodes.start(
        nodes
            .options(1)
            .dataRingBytes(RING)
            .sendTimeout(Duration.ofMillis(300))
            .type(Response.class)
            .type(Tagged.class)
            .receive(Text.class, Dispatch.INLINE, (text, from) -> blockPoller())
            .type(Pair.class));
  }

  /**
   * Sends until messages are held back, and no more is accepted within the timeout; returns the
   * number of messages.
   */
  private static int fill(Node here, int bytes) throws Exception {
    byte[] rest = new byte[bytes];
    int sent = 0;
    while (true) {
      Tagged next = new Tagged(0, sent, rest);
      try {
        here.peer(2).send(next);
        sent++;
      } catch (MessagingException e) {
        assertThat(e.code()).isEqualTo(Code.BACK_PRESSURED);
        if (SenderState.heldBack(here, 2, next)) { // else the other node may have had no core
          return sent;
        }
      }
    }
  }

  /** Half of what may wait, and what was sent before the sender knew; without those in handlers. */
  private static void checkWaiting(int messages, int bytes) {
    assertThat(messages * (long) bytes).isBetween(MOST / 4L, MOST / 2 + 4L * RING + 2L * bytes);
  }

  private void check(Variant variant, Dispatch dispatch, int bytes) throws Exception {
    Node here = start(variant, dispatch, MOST);
    Peer peer = here.peer(2);
    await(() -> peer.trySend(new Text("")) > 0);
    int sent = fill(here, bytes);
    checkWaiting(sent - (dispatch == Dispatch.CONCURRENT ? 2 : 1), bytes);
    assertThat(peer.trySend(new Tagged(0, sent, new byte[8]))).isEqualTo(Peer.BACK_PRESSURED);
    for (int i = 0; i < 500; i++) { // more than the rings have
      assertThat(peer.request(new Pair(i, 0), Response.class, LIMIT).value()).isEqualTo(i + 1);
      peer.send(new Text("x".repeat(200)));
    }
    await(() -> quick.get() == 501);
    assertThat(slow.get()).isZero();
    stuck.countDown();
    int total = sent + 500;
    byte[] rest = new byte[bytes];
    for (int i = sent; i < total; i++) {
      sendNow(peer, new Tagged(0, i, rest));
    }
    await(() -> slow.get() == total);
    assertThat(slowBytes.get()).isEqualTo((long) total * bytes);
    assertThat(outOfOrder.get()).isZero();
  }

  /** Sends, however long the receiver takes. */
  private static void sendNow(Peer peer, Tagged message) throws Exception {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      try {
        peer.send(message);
        return;
      } catch (MessagingException e) {
        assertThat(e.code()).isEqualTo(Code.BACK_PRESSURED);
        assertThat(System.nanoTime() - end).as("in time").isNegative();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void messagesInOneRecord(Variant variant) throws Exception {
    check(variant, Dispatch.ORDERED, 6_000);
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void messagesInSlices(Variant variant) throws Exception {
    check(variant, Dispatch.ORDERED, 50_000);
  }

  /** Threads that send look themselves whether they must hold. */
  @Test
  void thePollerOfTheSenderDoesNotRun() throws Exception {
    Node here = start(Variant.SHM, Dispatch.ORDERED, MOST);
    Peer peer = here.peer(2);
    await(() -> peer.trySend(new Text("")) > 0);
    await(() -> there.peer(1).trySend(new Text("")) > 0);
    assertThat(blocks.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
    byte[] rest = new byte[6_000];
    int sent = 0;
    for (Tagged next = new Tagged(0, 0, rest); !SenderState.heldBack(here, 2, next); ) {
      if (peer.trySend(next) > 0) {
        sent++;
        next = new Tagged(0, sent, rest);
      }
    }
    assertThat(peer.trySend(new Tagged(0, sent, rest))).isEqualTo(Peer.BACK_PRESSURED);
    checkWaiting(sent - 1, rest.length);
    for (int i = 0; i < 1_000; i++) { // more than the rings have
      await(() -> peer.trySend(new Text("x".repeat(200))) > 0);
    }
    await(() -> quick.get() == 1_001);
    assertThat(slow.get()).isZero();
    blocked.countDown();
    stuck.countDown();
    int all = sent;
    await(() -> slow.get() == all);
    assertThat(outOfOrder.get()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Dispatch.class,
      names = {"SERIAL", "CONCURRENT"})
  void receiversOfAllNodes(Dispatch dispatch) throws Exception {
    check(Variant.SHM, dispatch, 6_000);
  }

  /** Each is handed over alone; the sender waits for the one before. */
  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void messagesThatAreLargerThanTheLimit(Variant variant) throws Exception {
    Node here = start(variant, Dispatch.ORDERED, 64 << 10);
    Peer peer = here.peer(2);
    await(() -> peer.trySend(new Text("")) > 0);
    int sent = fill(here, 2 << 20);
    assertThat(sent).as("in the handler, waiting, and on its way").isBetween(1, 3);
    stuck.countDown();
    for (int i = sent; i < 20; i++) {
      sendNow(peer, new Tagged(0, i, new byte[2 << 20]));
    }
    await(() -> slow.get() == 20);
    assertThat(outOfOrder.get()).isZero();
  }

  /** With the default, messages of a few hundred bytes are limited by their number alone. */
  @Test
  void theDefaultIsAQuarterOfTheReceiveBudget() {
    NodeOptions options = NodeOptions.of(1);
    assertThat(options.maxWaitingBytes()).isEqualTo(32L << 20);
    assertThat(options.receiveBudget(8 << 20).maxWaitingBytes()).isEqualTo(2L << 20);
    assertThat(options.maxWaitingBytes(1 << 20).receiveBudget(4 << 20).maxWaitingBytes())
        .isEqualTo(1L << 20);
    assertThatThrownBy(() -> options.maxWaitingBytes(65_535))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxWaitingBytes is 65535, it must be from 65536 to 1099511627776");
  }
}
