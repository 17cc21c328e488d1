// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import io.talaria.messaging.Messages.Text;
import io.talaria.messaging.MessagingException.Code;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What nodes do whose RDMA port goes down, and comes up again; on the provider in memory. */
@Timeout(180)
class VerbsPortTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final String DOWN = "port loop0:1 is down";

  @TempDir Path directory;
  private Variant.Nodes nodes;

  /** What nodes were told of connections that they have lost. */
  private final Queue<String> lost = new ConcurrentLinkedQueue<>();

  /** If the collector found these requests, they would end. */
  private final Queue<Request> unanswered = new ConcurrentLinkedQueue<>();

  /** What node 2 has received. */
  private final AtomicInteger received = new AtomicInteger();

  /** Keeps node 2 from receiving messages. */
  private final CountDownLatch open = new CountDownLatch(1);

  @BeforeEach
  void prepare() {
    assumeThat(TestVerbs.isDevice()).as("the port of a device stays up").isFalse();
    nodes = new Variant.Nodes(Variant.VERBS, directory);
  }

  @AfterEach
  void portIsUpAgain() {
    if (nodes != null) {
      TestVerbs.port(true);
      open.countDown();
      nodes.close();
    }
  }

  private Node start(NodeOptions options) throws Exception {
    Node node =
        nodes.start(
            options
                .sendTimeout(LONG)
                .type(Response.class)
                .handle(
                    Pair.class,
                    Dispatch.INLINE,
                    (pair, request) -> request.respond(new Response(pair.first())))
                .handle(Text.class, Dispatch.INLINE, (text, request) -> unanswered.add(request))
                .receive(
                    Bytes.class,
                    Dispatch.INLINE,
                    (bytes, from) -> {
                      open.await();
                      received.incrementAndGet();
                    }));
    node.listen(
        new NodeListener() {
          @Override
          public void lost(Peer peer, String reason, long unacknowledgedBytes) {
            lost.add(node.id() + ": " + reason);
          }
        });
    return node;
  }

  private static void ask(Node node, int id, long value) throws MessagingException {
    assertThat(node.peer(id).request(new Pair(value, 0), Response.class, LONG).value())
        .isEqualTo(value);
  }

  private interface Condition {
    boolean holds();
  }

  private void await(Condition condition) throws InterruptedException {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("lost: %s", lost).isLessThan(deadline);
      Thread.sleep(1);
    }
  }

  /** Both nodes are told, whether their threads sleep or not, and connect again afterwards. */
  @ParameterizedTest
  @EnumSource
  void connectionsEndAndAreMadeAgain(IdleStrategy idleStrategy) throws Exception {
    Node far = start(nodes.options(2).idleStrategy(idleStrategy));
    Node near = start(nodes.options(1).idleStrategy(idleStrategy));
    for (int round = 1; round <= 3; round++) {
      ask(near, 2, round);
      ask(far, 1, round);
      assertThat(near.peer(2).transport()).isEqualTo("verbs");
      TestVerbs.port(false);
      await(() -> !near.peer(2).connected() && !far.peer(1).connected());
      int both = 2 * round;
      await(() -> lost.size() == both);
      // A credit that was under way may fail before the device says why.
      assertThat(lost)
          .anyMatch(each -> each.endsWith(": " + DOWN) || each.contains(": sending failed: "));
      MessagingException told =
          catchThrowableOfType(
              MessagingException.class,
              () -> near.peer(2).request(new Pair(1, 2), Response.class, SHORT));
      assertThat(told.code()).isIn(Code.UNREACHABLE, Code.REFUSED);
      assertThat(near.peer(2).connected()).isFalse();
      TestVerbs.port(true);
    }
    ask(near, 2, 7);
    ask(far, 1, 7);
    assertThat(near.counters().connected()).isEqualTo(4);
  }

  @Test
  void whoWaitsForAResponseIsTold() throws Exception {
    start(nodes.options(2));
    Node near = start(nodes.options(1));
    ResponseFuture<Response> never =
        near.peer(2).requestAsync(new Text("never"), Response.class, LONG);
    ask(near, 2, 7); // it has come
    TestVerbs.port(false);
    MessagingException told =
        catchThrowableOfType(MessagingException.class, () -> never.await(LONG));
    assertThat(told.code()).isEqualTo(Code.LOST);
  }

  @Test
  void whoWaitsForRoomGoesOnWhenThePortIsUp() throws Exception {
    Node far = start(nodes.options(2).dataRingBytes(16 << 10).receiveBudget(1 << 20));
    Node near = start(nodes.options(1).dataRingBytes(16 << 10));
    Peer peer = near.peer(2);
    ask(near, 2, 7);
    AtomicLong sent = new AtomicLong();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread sending =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    while (received.get() == 0) {
                      long ignored = peer.send(new Bytes(new byte[1000]));
                      sent.incrementAndGet();
                    }
                  } catch (MessagingException | RuntimeException | Error e) {
                    failure.set(e);
                  }
                });
    SenderState.awaitWaiting(sending, sent, peer, new Bytes(new byte[1000]));
    TestVerbs.port(false);
    open.countDown();
    await(() -> !peer.connected() && !far.peer(1).connected());
    long before = sent.get();
    TestVerbs.port(true);
    await(() -> sent.get() > before || !sending.isAlive());
    sending.join();
    assertThat(failure.get()).isNull();
    assertThat(peer.transport()).isEqualTo("verbs");
  }

  @Test
  void anotherTransportIsUsedMeanwhile() throws Exception {
    NodeOptions there = nodes.options(2).transports(Transport.VERBS, Transport.TCP);
    start(there.listen("127.0.0.1", 0));
    Node near = start(nodes.options(1).transports(Transport.VERBS, Transport.TCP));
    ask(near, 2, 1);
    assertThat(near.peer(2).transport()).isEqualTo("verbs");
    TestVerbs.port(false);
    await(() -> lost.size() == 2);
    ask(near, 2, 2);
    assertThat(near.peer(2).transport()).isEqualTo("tcp");
    assertThat(near.peer(2).reason()).endsWith("; not by verbs: port loop0:1 is DOWN");
    TestVerbs.port(true);
    Node later = start(nodes.options(3).transports(Transport.VERBS, Transport.TCP));
    ask(later, 2, 3);
    assertThat(later.peer(2).transport()).isEqualTo("verbs");
    ask(near, 2, 4);
    assertThat(near.peer(2).transport()).as("it stays").isEqualTo("tcp");
  }

  @Test
  void aNodeThatStartsMeanwhileSaysSoOrDoesWithout() throws Exception {
    TestVerbs.port(false);
    assertThatThrownBy(() -> start(nodes.options(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no port is active: loop0:1 is DOWN");
    NodeOptions there = nodes.options(2).transports(Transport.VERBS, Transport.TCP);
    start(there.listen("127.0.0.1", 0));
    Node near = start(nodes.options(1).transports(Transport.VERBS, Transport.TCP));
    ask(near, 2, 1);
    assertThat(near.peer(2).transport()).isEqualTo("tcp");
  }
}
