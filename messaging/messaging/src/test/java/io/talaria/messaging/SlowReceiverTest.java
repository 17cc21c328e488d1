// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Text;
import io.talaria.messaging.MessagingException.Code;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A receiver that takes nothing keeps back what is for it, and nothing else. */
@Timeout(180)
class SlowReceiverTest {
  private static final int RING = 64 << 10;

  @TempDir Path directory;
  private Variant.Nodes nodes;
  private final CountDownLatch stuck = new CountDownLatch(1);
  private final AtomicLong slow = new AtomicLong();
  private final AtomicLong quick = new AtomicLong();
  private final AtomicLong outOfOrder = new AtomicLong();

  record Numbered(long number, String text) {}

  @AfterEach
  void close() {
    stuck.countDown();
    if (nodes != null) {
      nodes.close();
    }
  }

  private void waitWhileStuck() {
    try {
      await(stuck);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void take(long number) {
    if (number != slow.getAndIncrement()) {
      outOfOrder.incrementAndGet();
    }
  }

  private NodeOptions there(Dispatch dispatch) {
    return nodes
        .options(2)
        .dataRingBytes(RING)
        .handlers(2)
        .type(Response.class)
        .receive(
            Numbered.class,
            dispatch,
            (message, from) -> {
              waitWhileStuck();
              if (dispatch == Dispatch.CONCURRENT) {
                slow.incrementAndGet();
              } else {
                take(message.number());
              }
            })
        .receive(Text.class, Dispatch.INLINE, (text, from) -> quick.incrementAndGet())
        .handle(
            Pair.class,
            Dispatch.INLINE,
            (pair, request) -> request.respond(new Response(pair.first() + 1)));
  }

  private Node start(Variant variant, Dispatch dispatch) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    NodeOptions there = there(dispatch);
    if (variant == Variant.LOOP) {
      return nodes.start(there.sendTimeout(Duration.ofMillis(200)));
    }
    assertThat(nodes.start(there).id()).isEqualTo(2);
    return nodes.start(
        nodes
            .options(1)
            .dataRingBytes(RING)
            .sendTimeout(Duration.ofMillis(200))
            .type(Response.class)
            .type(Numbered.class)
            .type(Text.class)
            .type(Pair.class));
  }

  /** Sends until messages are held back, and no more is taken within the limit. */
  private static long fill(Node here, String text) throws Exception {
    long sent = 0;
    while (true) {
      Numbered next = new Numbered(sent, text);
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

  private void check(Variant variant, Dispatch dispatch) throws Exception {
    Node here = start(variant, dispatch);
    Peer peer = here.peer(2);
    await(() -> peer.trySend(new Text("")) > 0);
    String text = "x".repeat(100);
    long sent = fill(here, text);
    // Its places, what both rings have, and as much again.
    assertThat(sent).isLessThan((dispatch == Dispatch.ORDERED ? 1024 : 1 << 14) + 6 * RING / 128);
    assertThat(peer.trySend(new Numbered(sent, text))).isEqualTo(Peer.BACK_PRESSURED);
    long[] outcome = new long[1];
    assertThat(here.send(NodeSet.of(2), new Numbered(sent, text), outcome)).isZero();
    assertThat(outcome[0]).isEqualTo(Peer.BACK_PRESSURED);
    for (int i = 0; i < 1000; i++) { // more than the rings have
      assertThat(peer.request(new Pair(i, 0), Response.class, LIMIT).value()).isEqualTo(i + 1);
      peer.send(new Text(text));
    }
    await(() -> quick.get() == 1001);
    assertThat(slow.get()).isZero();
    stuck.countDown();
    long total = sent + 20_000;
    for (long i = sent; i < total; i++) {
      long number = i;
      await(() -> peer.trySend(new Numbered(number, text)) > 0);
    }
    await(() -> slow.get() == total);
    assertThat(outOfOrder.get()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void oneThatKeepsTheOrder(Variant variant) throws Exception {
    check(variant, Dispatch.ORDERED);
  }

  @ParameterizedTest
  @EnumSource(
      value = Dispatch.class,
      names = {"SERIAL", "CONCURRENT"})
  void oneForAllNodes(Dispatch dispatch) throws Exception {
    check(Variant.SHM, dispatch);
  }

  /** Its first slices have room; the others do not wait for sendTimeout, which is much longer. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLargeRequestDoesNotWaitForRoomAfterItsTimeout(boolean async) throws Exception {
    nodes = new Variant.Nodes(Variant.SHM, directory);
    CountDownLatch inside = new CountDownLatch(1);
    Node there =
        nodes.start(
            nodes
                .options(2)
                .dataRingBytes(RING)
                .type(Response.class)
                .receive(
                    Text.class,
                    Dispatch.INLINE,
                    (text, from) -> {
                      inside.countDown();
                      waitWhileStuck();
                    })
                .handle(
                    Bytes.class,
                    Dispatch.INLINE,
                    (bytes, request) -> request.respond(new Response(bytes.bytes().length))));
    Node here =
        nodes.start(
            nodes
                .options(1)
                .dataRingBytes(RING)
                .sendTimeout(Duration.ofHours(1))
                .type(Response.class)
                .type(Text.class)
                .type(Bytes.class));
    Peer peer = here.peer(2);
    assertThat(peer.request(new Bytes(new byte[1]), Response.class, LIMIT).value()).isEqualTo(1);
    peer.send(new Text("the poller receives nothing more"));
    await(inside);
    Bytes large = new Bytes(new byte[900_000]);
    Duration timeout = Duration.ofMillis(300);
    FutureTask<MessagingException> ends =
        new FutureTask<>(
            () ->
                catchThrowableOfType(
                    MessagingException.class,
                    () -> {
                      if (async) {
                        peer.requestAsync(large, Response.class, timeout);
                      } else {
                        peer.request(large, Response.class, timeout);
                      }
                    }));
    Thread.ofPlatform().daemon().start(ends);
    assertThat(ends.get(20, TimeUnit.SECONDS).code()).isEqualTo(Code.BACK_PRESSURED);
    stuck.countDown();
    assertThat(peer.request(large, Response.class, LIMIT).value()).isEqualTo(900_000);
    assertThat(there.counters().lost() + here.counters().lost()).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "TCP"})
  void requestsThatAreNotAnsweredKeepBackTheirLikeAlone(Variant variant) throws Exception {
    nodes = new Variant.Nodes(variant, directory);
    Node there =
        nodes.start(
            nodes
                .options(2)
                .dataRingBytes(RING)
                .type(Response.class)
                .handle(
                    Numbered.class,
                    Dispatch.ORDERED,
                    (message, request) -> {
                      waitWhileStuck();
                      take(message.number());
                      request.respond(new Response(message.number()));
                    })
                .receive(Numbered.class, Dispatch.INLINE, (m, from) -> quick.incrementAndGet()));
    assertThat(there.id()).isEqualTo(2);
    Node here =
        nodes.start(
            nodes
                .options(1)
                .dataRingBytes(RING)
                .sendTimeout(Duration.ofMillis(200))
                .type(Response.class)
                .type(Numbered.class));
    Peer peer = here.peer(2);
    await(() -> peer.trySend(new Numbered(0, "")) > 0);
    String text = "x".repeat(100);
    long asked = 0;
    MessagingException refused = null;
    while (refused == null) {
      long number = asked;
      refused =
          catchThrowableOfType(
              MessagingException.class,
              () -> {
                peer.requestAsync(
                    new Numbered(number, text), Response.class, LIMIT.multipliedBy(4));
              });
      asked += refused == null ? 1 : 0;
    }
    assertThat(refused.code()).isEqualTo(Code.BACK_PRESSURED);
    for (int i = 0; i < 2000; i++) {
      int number = i;
      await(() -> peer.trySend(new Numbered(number, text)) > 0);
    }
    await(() -> quick.get() == 2001);
    stuck.countDown();
    long all = asked;
    await(() -> slow.get() == all);
    assertThat(peer.request(new Numbered(all, text), Response.class, LIMIT).value()).isEqualTo(all);
    assertThat(outOfOrder.get()).isZero();
  }
}
