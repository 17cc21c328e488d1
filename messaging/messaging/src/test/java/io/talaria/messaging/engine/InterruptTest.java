// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static io.talaria.messaging.engine.RunningNodes.rests;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.IdleStrategy;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The program's code interrupts the node's own threads. */
@Timeout(180)
class InterruptTest {

  record Figure(long value) {}

  record Step(long value) {}

  record Question(long value) {}

  @TempDir Path directory;
  private volatile LocalNode near;
  private volatile LocalNode far;
  private final CountDownLatch open = new CountDownLatch(1);
  private final AtomicInteger seen = new AtomicInteger();
  private final AtomicInteger taken = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();

  @AfterEach
  void close() {
    open.countDown();
    RunningNodes.close(near, far);
  }

  private void take() {
    if (Thread.currentThread().isInterrupted()) {
      seen.incrementAndGet();
    }
    taken.incrementAndGet();
    Thread.currentThread().interrupt();
  }

  /** Takes a step: waits for a response, which an interrupted thread does not. */
  private void step(Step step, Peer from) {
    try {
      if (step.value() == 0) {
        await(open);
      }
      assertThat(from.request(new Question(1), Question.class, LIMIT).value()).isEqualTo(1);
    } catch (InterruptedException | MessagingException e) {
      failed.incrementAndGet();
    }
    take();
  }

  private NodeOptions options(int id, Transport transport) {
    NodeOptions options = NodeOptions.of(id);
    if (transport == Transport.TCP) {
      options.listen("127.0.0.1", 0).directory(this::address);
    }
    return options
        .cluster("test")
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .transports(transport)
        .handlers(1)
        .sendTimeout(Duration.ofSeconds(30))
        .type(Step.class)
        .receive(Figure.class, Dispatch.INLINE, (figure, from) -> take())
        .receive(Step.class, Dispatch.ORDERED, this::step)
        .handle(
            Figure.class,
            Dispatch.INLINE,
            (figure, request) -> {
              take();
              request.respond(figure);
            })
        .handle(Question.class, Dispatch.INLINE, (question, request) -> request.respond(question));
  }

  private InetSocketAddress address(int id) {
    LocalNode node = id == 1 ? near : far;
    return node == null || node.port() <= 0
        ? null
        : new InetSocketAddress("127.0.0.1", node.port());
  }

  private void start(Transport transport, IdleStrategy strategy) throws Exception {
    far = RunningNodes.start(options(2, transport).idleStrategy(strategy));
    near = RunningNodes.start(options(1, transport));
    assertThat(near.peer(2).request(new Figure(1), Figure.class, LIMIT).value()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP"})
  void anInlineReceiverThatInterruptsItsThreadDisturbsNobody(Transport transport) throws Exception {
    start(transport, IdleStrategy.ADAPTIVE);
    Peer peer = near.peer(2);
    for (int i = 0; i < 1_000; i++) {
      peer.send(new Figure(i));
      if (i % 100 == 0) {
        assertThat(peer.request(new Figure(i), Figure.class, LIMIT).value()).isEqualTo(i);
      }
    }
    await(() -> taken.get() == 1 + 1_000 + 10);
    assertThat(seen.get()).as("interrupts that the next message has seen").isZero();
    await(() -> rests(far));
    assertThat(near.counters().lost() + far.counters().lost()).isZero();
  }

  /** Another thread may have got hold of the poller's. */
  @ParameterizedTest
  @EnumSource
  void aPollerThatIsInterruptedFromOutsideContinues(IdleStrategy strategy) throws Exception {
    start(Transport.SHM, strategy);
    for (int i = 0; i < 20; i++) {
      far.poller().interrupt();
      assertThat(near.peer(2).request(new Figure(i), Figure.class, LIMIT).value()).isEqualTo(i);
    }
    far.poller().interrupt();
    if (strategy == IdleStrategy.ADAPTIVE) {
      await(() -> rests(far));
      assertThat(far.poller().isInterrupted()).isFalse();
    }
    assertThat(far.counters().lost()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP"})
  void anInterruptOfOneMessageOnAHandlerDoesNotReachTheNext(Transport transport) throws Exception {
    start(transport, IdleStrategy.ADAPTIVE);
    for (int i = 0; i < 500; i++) { // most of them wait by then, so that a turn has several
      near.peer(2).send(new Step(i));
    }
    open.countDown();
    await(() -> taken.get() == 1 + 500);
    assertThat(failed.get()).as("requests that were cancelled").isZero();
    assertThat(seen.get()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP"})
  void aListenerThatInterruptsTheConductorDoesNotKeepItAwake(Transport transport) throws Exception {
    far = RunningNodes.start(options(2, transport));
    near = RunningNodes.start(options(1, transport));
    AtomicInteger told = new AtomicInteger();
    NodeListener listener =
        new NodeListener() {
          @Override
          public void connected(Peer peer, String transport, String reason) {
            Thread.currentThread().interrupt();
            told.incrementAndGet();
          }
        };
    near.listen(listener);
    far.listen(listener);
    assertThat(near.peer(2).request(new Question(1), Question.class, LIMIT).value()).isEqualTo(1);
    await(() -> told.get() == 2);
    await(
        () ->
            !((Thread) near.connector()).isInterrupted()
                && !((Thread) far.connector()).isInterrupted());
    await(() -> rests(near) && rests(far));
    assertThat(near.close(LIMIT)).isZero();
    await(() -> far.counters().connections() == 0);
  }
}
