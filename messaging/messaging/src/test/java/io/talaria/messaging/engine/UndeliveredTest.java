// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static io.talaria.messaging.engine.RunningNodes.rests;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import io.talaria.messaging.Waits;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.ring.MirrorReceiver;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.transport.RingPair;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections that end while messages wait at the receiving node. */
@Timeout(180)
class UndeliveredTest {
  record Slow(int number) {}

  record Quick(int number) {}

  @TempDir Path directory;
  private final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
  private final CountDownLatch stuck = new CountDownLatch(1);
  private final AtomicInteger slow = new AtomicInteger();
  private final AtomicInteger quick = new AtomicInteger();
  private LocalNode near;
  private LocalNode far;
  private LocalNode third;

  @AfterEach
  void close() {
    stuck.countDown();
    RunningNodes.close(near, far, third);
  }

  private LocalNode start(int id, Transport transport) throws Exception {
    return RunningNodes.start(
        RunningNodes.options(id, transport, directory, addresses)
            .maxVirtualThreads(1)
            .receive(Slow.class, Dispatch.VIRTUAL, (message, from) -> takeSlowly())
            .receive(Quick.class, Dispatch.INLINE, (message, from) -> quick.incrementAndGet()),
        addresses);
  }

  private void takeSlowly() throws InterruptedException {
    Waits.await(stuck);
    slow.incrementAndGet();
  }

  /**
   * Sends a message that finds no thread, and one behind it, and waits until both have arrived; the
   * far end of their connection.
   */
  private Connection stall(Transport transport) throws Exception {
    far = start(2, transport);
    near = start(1, transport);
    for (int i = 0; i < 2; i++) {
      near.peer(2).send(new Slow(i));
    }
    near.peer(2).send(new Quick(0));
    await(() -> far.remote(1).connection() != null);
    Connection there = far.remote(1).connection();
    await(() -> onPoller(far, () -> there.receiver().stalled));
    long sent = RingProducer.bytesBetween(0, near.remote(2).connection().sender().end());
    await(() -> onPoller(far, () -> arrived(there, sent)));
    return there;
  }

  /** Whether so many bytes of messages have arrived; in shared memory they have at once. */
  private static boolean arrived(Connection connection, long bytes) {
    return !(connection.link().in(RingPair.DATA) instanceof MirrorReceiver mirror)
        || mirror.writeOffset() == bytes;
  }

  /** What a node's poller finds, which has then done all that it was told before. */
  private static <T> T onPoller(LocalNode node, Supplier<T> look) {
    CompletableFuture<T> found = new CompletableFuture<>();
    node.poller().execute(() -> found.complete(look.get()));
    return found.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** The limit of connections is no reason to lose messages without a word. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void whatAConnectionThatGaveWayHasNotDeliveredIsReported(Transport transport) throws Exception {
    stall(transport);
    AtomicInteger lost = new AtomicInteger();
    near.listen(
        new NodeListener() {
          @Override
          public void lost(Peer peer, String reason, long unacknowledgedBytes) {
            lost.incrementAndGet();
          }
        });
    Connection here = near.remote(2).connection();
    here.closing().leaving = true;
    near.poller().dropSoon(here, "the limit of connections was reached");
    await(() -> near.remote(2).connection() == null);
    assertThat(near.counters().lost()).isOne();
    await(() -> lost.get() == 1);
  }

  /** Also what has left the ring here, by the transport, or there, for a receiver. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void theBytesOfAllThatWasNotDeliveredAreReported(Transport transport) throws Exception {
    stall(transport);
    AtomicLong unacknowledged = new AtomicLong(-1);
    near.listen(
        new NodeListener() {
          @Override
          public void lost(Peer peer, String reason, long unacknowledgedBytes) {
            unacknowledged.set(unacknowledgedBytes);
          }
        });
    Connection here = near.remote(2).connection();
    long sent = RingProducer.bytesBetween(0, here.sender().end());
    long waiting = sent / 3 * 2; // the first of three messages of one size is with its receiver
    near.poller().dropSoon(here, "the test ends it");
    await(() -> unacknowledged.get() >= 0);
    assertThat(waiting).isPositive();
    assertThat(unacknowledged.get()).isGreaterThanOrEqualTo(waiting);
  }

  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aConnectionDoesNotGiveWayWhileItsMessagesWait(Transport transport) throws Exception {
    Connection there = stall(transport);
    far.poller().partSoon(there, "the limit of connections was reached");
    boolean dead = onPoller(far, there::dead);
    assertThat(dead).isFalse();
    stuck.countDown();
    await(() -> slow.get() == 2 && quick.get() == 1);
    far.poller().partSoon(there, "the limit of connections was reached");
    await(() -> onPoller(far, there::dead));
  }

  /** It ends first, with what it has still to deliver after the messages of the previous one. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aConnectionThatEndsBeforeItsPredecessorDeliversWhatHasArrived(Transport transport)
      throws Exception {
    far = start(2, transport);
    third = start(3, transport);
    near = start(1, transport);
    Connection before = connect(third);
    Connection there = connect(near);
    onPoller(far, () -> there.receiver().predecessor = before);
    near.peer(2).send(new Quick(3));
    await(() -> onPoller(far, () -> there.link().in(RingPair.DATA).peek() != 0));
    near.poller().dropSoon(near.remote(2).connection(), "the test ends it");
    await(() -> onPoller(far, () -> there.link().over()));
    await(() -> rests(far));
    assertThat(quick).as("delivered before the predecessor has ended").hasValue(2);
    third.poller().dropSoon(third.remote(2).connection(), "the test ends it");
    await(() -> quick.get() == 3);
    await(() -> onPoller(far, there::dead));
  }

  /**
   * The other process was killed. Its messages must not depend on who finds that first: the poller,
   * which reads, or a thread that sends.
   */
  @Test
  void aConnectionOnWhichSendingHasFailedDeliversWhatHasArrived() throws Exception {
    Connection there = stall(Transport.TCP);
    onPoller(
        far,
        () -> {
          near.poller().dropSoon(near.remote(2).connection(), "the test ends it");
          return sendInVain(there);
        });
    assertThat(there.closing().failure()).startsWith("cannot send: ");
    await(() -> onPoller(far, () -> there.link().over()));
    await(() -> rests(far));
    assertThat(there.dead()).as("ended, with messages to deliver").isFalse();
    stuck.countDown();
    await(() -> slow.get() == 2 && quick.get() == 1);
    await(() -> onPoller(far, there::dead));
    await(() -> far.remote(1).connection() == null);
    assertThat(far.counters().lost()).isOne();
  }

  /** Sends until that fails. */
  private static boolean sendInVain(Connection connection) {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (connection.closing().failureOr("").isEmpty() && System.nanoTime() < end) {
      connection.control(Records.PING, 0, 0);
      boolean ignored = connection.link().push();
      LockSupport.parkNanos(1_000_000);
    }
    return true;
  }

  /** And what is sent afterwards goes to the next connection, behind what has arrived before. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aConnectionWhoseOtherEndIsGoneIsReplacedAndDeliversWhatHasArrived(Transport transport)
      throws Exception {
    Connection there = stall(transport);
    ResponseSlot request = far.responseSlots().take();
    int generation = request.open(there);
    near.poller().dropSoon(near.remote(2).connection(), "the test ends it");
    await(() -> far.remote(1).connection() != there);
    assertThat(there.dead()).as("ended, with messages to deliver").isFalse();
    assertThat(request.done(generation)).as("an open request has failed").isTrue();
    assertThat(far.counters().lost()).isOne();
    near.peer(2).send(new Quick(1)); // connects again
    await(() -> far.remote(1).connection() != null);
    Connection next = far.remote(1).connection();
    await(() -> onPoller(far, () -> next.link().in(RingPair.DATA).peek() != 0));
    assertThat(quick).as("delivered before what came first").hasValue(0);
    stuck.countDown();
    await(() -> slow.get() == 2 && quick.get() == 2);
    await(() -> onPoller(far, there::dead));
    assertThat(far.counters().lost()).isOne();
  }

  /** The other node has lost its connection, and makes a new one before the poller looks. */
  @ParameterizedTest
  @EnumSource(
      value = Transport.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void aConnectionThatIsReplacedBeforeItsEndIsFoundDeliversWhatHasArrived(Transport transport)
      throws Exception {
    Connection there = stall(transport);
    CountDownLatch looks = new CountDownLatch(1);
    far.poller().execute(() -> block(looks));
    try {
      near.poller().dropSoon(near.remote(2).connection(), "the test ends it");
      await(() -> near.remote(2).connection() == null);
      near.peer(2).send(new Quick(1)); // connects again
      await(() -> far.remote(1).connection() != there);
    } finally {
      looks.countDown();
    }
    await(() -> far.remote(1).connection() != null);
    Connection next = far.remote(1).connection();
    await(() -> onPoller(far, () -> next.link().in(RingPair.DATA).peek() != 0));
    assertThat(quick).as("delivered before what came first").hasValue(0);
    stuck.countDown();
    await(() -> slow.get() == 2 && quick.get() == 2);
    await(() -> onPoller(far, there::dead));
  }

  /** By UCX and verbs a link may fail as soon as it is there. */
  @Test
  void aConnectionThatFailsBeforeThePollerHasItIsForgotten() throws Exception {
    far = start(2, Transport.SHM);
    near = start(1, Transport.SHM);
    AtomicBoolean first = new AtomicBoolean(true);
    near.listen(
        new NodeListener() {
          @Override
          public void connected(Peer peer, String transport, String reason) {
            if (first.getAndSet(false)) {
              near.connector().connections().getFirst().failed("the test ends it");
            }
          }
        });
    near.peer(2).trySend(new Quick(1)); // connects, in vain
    await(() -> !first.get() && near.counters().connections() == 0);
    near.peer(2).send(new Quick(1)); // connects again
    await(() -> rests(near));
  }

  private static void block(CountDownLatch open) {
    try {
      Waits.await(open);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Connects a node with the far one, and returns that one's connection. */
  private Connection connect(LocalNode node) throws Exception {
    Peer peer = node.peer(2);
    assertThat(peer.awaitDelivered(peer.send(new Quick(0)), LIMIT)).isTrue();
    await(() -> far.remote(node.id()).connection() != null);
    return far.remote(node.id()).connection();
  }
}
