// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Request;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.Transport;
import io.talaria.messaging.Waits;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.transport.RingPair;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is sent between the GOODBYE of a node that has too many connections, and their end. */
@Timeout(180)
class PartingTest {
  record Figure(long value) {}

  record Later(long value) {}

  private static final int ROUNDS = 60;
  private static final int CONNECTED = 3;

  @TempDir Path directory;
  private final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
  private final BlockingQueue<Request> kept = new LinkedBlockingQueue<>();
  private final List<LocalNode> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    RunningNodes.close(nodes.toArray(LocalNode[]::new));
  }

  private LocalNode start(int id, Transport transport) throws Exception {
    LocalNode node =
        RunningNodes.start(
            RunningNodes.options(id, transport, directory, addresses)
                .maxConnections(id == 1 ? 1 : 100)
                .receive(Figure.class, Dispatch.INLINE, (figure, from) -> {})
                .handle(Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure))
                .handle(Later.class, Dispatch.INLINE, (later, request) -> kept.add(request)),
            addresses);
    nodes.add(node);
    return node;
  }

  private static void ask(LocalNode node, int other) throws Exception {
    Figure asked = new Figure(other);
    assertThat(node.peer(other).request(asked, Figure.class, LIMIT)).isEqualTo(asked);
  }

  private static ResponseFuture<Later> askLater(LocalNode node, int other) throws Exception {
    return node.peer(other).requestAsync(new Later(other), Later.class, LIMIT);
  }

  /** The end to which a request goes agrees to part, and responds afterwards. */
  private void assertParts(
      ResponseFuture<Later> open, LocalNode near, Connection here, LocalNode far, Connection there)
      throws Exception {
    await(() -> here.link().out(RingPair.DATA).sealed());
    kept.take().respond(new Later(5));
    assertThat(open.await(LIMIT)).isEqualTo(new Later(5));
    await(() -> here.dead() && there.dead());
    assertThat(near.counters().lost()).isZero();
    assertThat(far.counters().lost()).isZero();
    ask(near, far.id());
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aRequestThatWasSentBeforeTheOtherEndAgreedIsAnswered(Transport transport) throws Exception {
    LocalNode far = start(2, transport);
    LocalNode near = start(1, transport);
    ask(near, 2);
    Connection here = near.remote(2).connection();
    Connection there = far.remote(1).connection();
    here.closing().leaving = true;
    ResponseFuture<Later> open = askLater(near, 2);
    await(() -> kept.size() == 1 && there.idle());
    here.control(Records.GOODBYE, 0, 0);
    assertParts(open, near, here, far, there);
  }

  /** The other end may be gone after the first time: the rest would count as not delivered. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP"})
  void aNodeThatClosesTellsTheEndOnce(Transport transport) throws Exception {
    start(2, transport);
    LocalNode near = start(1, transport);
    ask(near, 2);
    Connection here = near.remote(2).connection();
    here.closing().leaving = true;
    here.closing().sealMessages();
    here.closing().tellEnd();
    long told = here.link().out(RingPair.CONTROL).claimed();
    here.closing().tellEnd();
    assertThat(here.link().out(RingPair.CONTROL).claimed()).isEqualTo(told);
    assertThat(near.close(LIMIT)).isZero();
  }

  /** The poller may find the end of the other node's output before the conductor hears GOODBYE. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aNodeThatClosesInOrderIsNotLost(Transport transport) throws Exception {
    LocalNode far = start(2, transport);
    LocalNode near = start(1, transport);
    ask(near, 2);
    Connection here = near.remote(2).connection();
    await(here::idle);
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    near.connector()
        .timers()
        .at(
            System.nanoTime(),
            () -> {
              blocked.countDown();
              try {
                Waits.await(goOn);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    try {
      Waits.await(blocked);
      far.close(LIMIT);
      await(here::dead);
    } finally {
      goOn.countDown();
    }
    await(() -> near.remote(2).connection() == null); // it is counted before that
    assertThat(near.counters().lost()).isZero();
  }

  /** At once, although it tells what comes close together at intervals otherwise. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP"})
  void aNodeThatClosesTellsWhatItHasDelivered(Transport transport) throws Exception {
    Peer peer = start(1, transport).peer(2);
    for (int round = 0; round < 5; round++) {
      CountDownLatch came = new CountDownLatch(2);
      LocalNode far =
          RunningNodes.start(
              RunningNodes.options(2, transport, directory, addresses)
                  .receive(Figure.class, Dispatch.INLINE, (figure, from) -> came.countDown()),
              addresses);
      nodes.add(far);
      assertThat(peer.send(new Figure(1))).isPositive();
      long last = peer.send(new Figure(2));
      Waits.await(came);
      far.close(LIMIT);
      assertThat(peer.awaitDelivered(last, LIMIT)).as("round %d", round).isTrue();
      await(() -> !peer.connected());
    }
  }

  /** The end that has asked is in use again, but the other one already sends nothing more. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP"})
  void anAgreementThatComesLateIsValid(Transport transport) throws Exception {
    LocalNode far = start(2, transport);
    LocalNode near = start(1, transport);
    start(3, transport);
    ask(near, 2);
    Connection here = near.remote(2).connection();
    Connection there = far.remote(1).connection();
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    far.listen(
        new NodeListener() {
          @Override
          public void connected(Peer peer, String how, String reason) {
            blocked.countDown();
            try {
              Waits.await(goOn);
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
        });
    try {
      LocalNode fourth = start(4, transport);
      await(
          () -> {
            fourth.peer(2).trySend(new Figure(1));
            return blocked.getCount() == 0;
          });
      await(here::idle);
      await(
          () -> {
            near.peer(3).trySend(new Figure(1)); // connects: one too many
            return here.closing().leaving;
          });
      ResponseFuture<Later> open = askLater(near, 2);
      await(() -> !here.closing().leaving && kept.size() == 1 && there.idle());
      goOn.countDown();
      assertParts(open, near, here, far, there);
    } finally {
      goOn.countDown();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void requestsAreAnsweredWhileConnectionsGiveWayAgainAndAgain(Transport transport)
      throws Exception {
    start(2, transport);
    start(3, transport);
    LocalNode near = start(1, transport);
    ask(near, 2);
    AtomicBoolean over = new AtomicBoolean();
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!over.get()) {
                    near.peer(3).trySend(new Figure(1));
                    LockSupport.parkNanos(1_000_000);
                  }
                });
    try {
      for (int i = 0; i < ROUNDS || near.counters().connected() < CONNECTED; i++) {
        ask(near, 2);
        LockSupport.parkNanos(i % 3 * 1_000_000L);
      }
    } finally {
      over.set(true);
      other.join();
    }
    assertThat(near.counters().lateResponses()).isZero();
    assertThat(near.counters().lost()).isZero();
  }
}
