// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.NodeSet;
import io.talaria.messaging.Peer;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Encoder;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers that do not do what HOLD asks for, and peers that ask for it without reason. */
@Timeout(180)
class HostileHoldTest {
  private static final int RING = 64 << 10;
  private static final int MOST = 1 << 20;
  private static final int BYTES = 4_000;

  @SuppressWarnings("ArrayRecordComponent") // only its length is used
  record Load(int number, byte[] rest) {}

  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;
  private LocalNode third;
  private final CountDownLatch stuck = new CountDownLatch(1);
  private final AtomicInteger[] taken = {
    new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger()
  };
  private final AtomicInteger outOfOrder = new AtomicInteger();
  private final AtomicLong figures = new AtomicLong();

  private NodeOptions options(int id) {
    return TestOptions.of(id, Transport.SHM, directory)
        .dataRingBytes(RING)
        .maxWaitingBytes(MOST)
        .handlers(4)
        .sendTimeout(Duration.ofMillis(200))
        .receive(
            Load.class,
            Dispatch.ORDERED,
            (load, from) -> {
              if (from.id() == 1) {
                await(stuck);
              }
              if (taken[from.id()].getAndIncrement() != load.number()) {
                outOfOrder.incrementAndGet();
              }
            })
        .receive(Figure.class, Dispatch.INLINE, (figure, from) -> figures.incrementAndGet())
        .handle(Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure));
  }

  private void start() throws Exception {
    near = RunningNodes.start(options(1));
    far = RunningNodes.start(options(2));
    third = RunningNodes.start(options(3));
    for (LocalNode each : new LocalNode[] {near, third}) {
      assertThat(ask(each, 2, 1)).isEqualTo(1);
    }
  }

  /** Requests a value; connects first, if it must, however long that takes. */
  private static long ask(LocalNode from, int to, long value) throws MessagingException {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      try {
        return from.peer(to).request(new Figure(value), Figure.class, LIMIT).value();
      } catch (MessagingException e) { // sendTimeout is short here
        if (e.code() != MessagingException.Code.UNREACHABLE || System.nanoTime() - end > 0) {
          throw e;
        }
      }
    }
  }

  @AfterEach
  void close() {
    stuck.countDown();
    RunningNodes.close(near, far, third);
  }

  /** Puts a message into the ring whatever HOLD says. */
  private long sendRegardless(Load load) {
    try (Arena arena = Arena.ofConfined()) {
      ThreadContext context = ThreadContext.current();
      TypeEntry type = near.types().of(load);
      int size = Encoder.size(context, type.codec, load);
      MemorySegment memory = arena.allocate(size, 8);
      Encoder.encode(context, type, load, size, memory);
      RecordHead head = context.head.of(type.index, Records.MESSAGE, 0, 0, 0);
      return near.remote(2)
          .connection()
          .sender()
          .put(context, memory, 0, size, RingPair.DATA, head);
    }
  }

  @Test
  void whoeverDoesNotHoldIsNotReadFurtherAndOthersAre() throws Exception {
    start();
    byte[] rest = new byte[BYTES];
    RecordReceiver there = far.remote(1).connection().receiver();
    int sent = 0;
    for (int full = 0; full < 100; ) { // for good: the ring grows, and the poller may be late
      assertThat((long) sent * BYTES).as("bytes accepted").isLessThan(2L * MOST);
      if (sendRegardless(new Load(sent, rest)) > 0) {
        sent++;
        full = 0;
      } else {
        full = there.stalled ? full + 1 : 0;
        Thread.sleep(1);
      }
    }
    int loads = Records.what(near.types().of(new Load(0, rest)).index, Records.MESSAGE);
    await(() -> near.remote(2).connection().holds().heldBack(loads));
    // What the receiver has, what waits, and the ring.
    assertThat((long) (sent - 1) * BYTES).isBetween(MOST - 2L * BYTES, MOST + 2L * RING);
    Peer peer = third.peer(2);
    for (int i = 0; i < 2_000; i++) {
      int number = i;
      await(() -> peer.trySend(new Load(number, rest)) > 0);
    }
    await(() -> taken[3].get() == 2_000);
    assertThat(ask(third, 2, 7)).isEqualTo(7);
    assertThat(ask(far, 1, 8)).as("its responses are read").isEqualTo(8);
    assertThat(taken[1].get()).isZero();
    stuck.countDown();
    int all = sent;
    await(() -> taken[1].get() == all);
    assertThat(ask(near, 2, 9)).isEqualTo(9);
    await(() -> near.peer(2).trySend(new Load(all, rest)) > 0); // once it is released
    await(() -> taken[1].get() == all + 1);
    assertThat(outOfOrder.get()).isZero();
    assertThat(far.counters().lost()).isZero();
  }

  /** The receiver of a type's messages at node 2, as node 2 names it to node 3. */
  private int what(Object message, byte kind) {
    return Records.what(third.types().of(message).index, kind);
  }

  private static void assertHeldBack(MessagingException thrown) {
    assertThat(thrown.code()).isEqualTo(MessagingException.Code.BACK_PRESSURED);
  }

  @Test
  void aHoldThatIsNeverReleasedKeepsBackItsReceiverAlone() throws Exception {
    start();
    assertThat(ask(third, 2, 0)).isZero(); // The connections are those that stay.
    Connection hostile = far.remote(3).connection();
    Connection held = third.remote(2).connection();
    Load load = new Load(0, new byte[8]);
    int messages = what(load, Records.MESSAGE);
    int requests = what(load, Records.REQUEST);
    hostile.control(Records.HOLD, messages, 1);
    hostile.control(Records.HOLD, requests, Integer.MAX_VALUE);
    await(() -> held.holds().heldBack(messages) && held.holds().heldBack(requests));
    Peer peer = third.peer(2);
    assertThat(peer.trySend(load)).isEqualTo(Peer.BACK_PRESSURED);
    assertHeldBack(catchThrowableOfType(MessagingException.class, () -> peer.send(load)));
    Load large = new Load(0, new byte[2 << 20]);
    assertHeldBack(catchThrowableOfType(MessagingException.class, () -> peer.send(large)));
    assertHeldBack(
        catchThrowableOfType(
            MessagingException.class, () -> peer.request(load, Figure.class, LIMIT)));
    assertThat(ask(third, 1, 1)).isEqualTo(1);
    long[] outcome = new long[2];
    assertThat(third.send(NodeSet.of(1, 2), new Load(0, new byte[8]), outcome)).isEqualTo(1);
    assertThat(outcome[0]).as("to another node").isPositive();
    assertThat(outcome[1]).isEqualTo(Peer.BACK_PRESSURED);
    for (int i = 0; i < 1_000; i++) {
      assertThat(ask(third, 2, i)).isEqualTo(i);
      peer.send(new Figure(i));
    }
    await(() -> figures.get() == 1_000);
    await(held::idle); // nothing is left of what was refused
    assertThat(third.responseSlots().open()).isZero();
    assertThat(third.counters().lost()).isZero();
    long before = System.nanoTime();
    assertThat(third.close(LIMIT)).as("bytes lost").isZero();
    assertThat(System.nanoTime() - before).as("does not wait for it").isLessThan(LIMIT.toNanos());
  }

  /** Numbers that are old, jump and wrap; the receiver's release ends the last of them. */
  @Test
  void holdsInAnyOrderAreWorthTheirNumber() throws Exception {
    start();
    assertThat(ask(third, 2, 0)).isZero(); // The connections are those that stay.
    Connection hostile = far.remote(3).connection();
    Connection held = third.remote(2).connection();
    Load load = new Load(0, new byte[8]);
    int messages = what(load, Records.MESSAGE);
    for (int number : new int[] {5, 4, 2, -1, -3, 3}) {
      hostile.control(Records.HOLD, messages, number);
    }
    assertThat(ask(third, 2, 1)).isEqualTo(1);
    await(() -> held.holds().heldBack(messages));
    hostile.control(Records.HOLD, messages, 6);
    await(() -> !held.holds().heldBack(messages));
    for (int i = 0; i < 100_000; i++) {
      hostile.control(Records.HOLD, messages, 7 + i);
    }
    hostile.control(Records.HOLD, messages, 200_000);
    await(() -> hostile.outbox().isEmpty() && !held.holds().heldBack(messages));
    await(() -> third.peer(2).trySend(load) > 0);
    await(() -> taken[3].get() == 1);
    assertThat(third.counters().lost()).isZero();
  }

  @Test
  void aHoldOfAReceiverThatIsNoneEndsTheConnection() throws Exception {
    start();
    int count = third.types().entries().size() << 1;
    for (int receiver : new int[] {-1, count, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      long lost = third.counters().lost();
      assertThat(ask(far, 3, 1)).isEqualTo(1);
      Connection before = third.remote(2).connection();
      far.remote(3).connection().control(Records.HOLD, receiver, 1);
      await(before::dead);
      assertThat(before.closing().failure()).contains("HOLD of receiver " + receiver);
      await(() -> third.counters().lost() > lost);
      await(() -> third.remote(2).connection() != before && far.remote(3).connection() == null);
    }
    assertThat(ask(third, 2, 5)).isEqualTo(5);
    assertThat(ask(near, 2, 6)).isEqualTo(6);
  }
}
