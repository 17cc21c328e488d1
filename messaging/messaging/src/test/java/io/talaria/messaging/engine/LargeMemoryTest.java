// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.Peer;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.Waits;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Large messages that wait for memory get it as soon as there is enough, and not before. */
@Timeout(180)
class LargeMemoryTest {
  private static final int BUDGET = 8 << 20;
  private static final int STREAM = 1 << 20;
  private static final int RING = 32 << 10;
  private static final long WAIT_NS = 100_000_000L;

  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode near;
  private LocalNode far;
  private LocalNode third;

  @AfterEach
  void close() {
    RunningNodes.close(near, far, third);
  }

  private LocalNode start(int id) throws Exception {
    return RunningNodes.start(
        TestOptions.of(id, Transport.SHM, directory)
            .receiveBudget(BUDGET)
            .sendTimeout(Waits.LIMIT)
            .receive(Figure.class, Dispatch.INLINE, (figure, from) -> {}));
  }

  /** Connects a node with the far one, and returns its end of the connection. */
  private static Connection connect(LocalNode node) throws Exception {
    Peer peer = node.peer(2);
    assertThat(peer.awaitDelivered(peer.send(new Figure(1)), LIMIT)).isTrue();
    return node.remote(2).connection();
  }

  @Test
  void theNextMessageGetsMemoryWhenTheConnectionOfTheFirstHasEnded() throws Exception {
    far = start(2);
    near = start(1);
    third = start(3);
    Connection first = connect(near);
    Connection next = connect(third);
    LargeMemory memory = far.largeMemory();
    assertThat(memory.take(5 << 20)).as("for what handlers have").isTrue();
    first.control(Records.BIG, STREAM, 7 << 20);
    await(() -> memory.waiting() == 1);
    next.control(Records.BIG, STREAM, 2 << 20);
    await(() -> memory.waiting() == 2);
    near.poller().dropSoon(first, "the test ends it");
    await(() -> memory.waiting() == 0);
    assertThat(memory.take(2 << 20)).as("the message has the rest").isFalse();
  }

  /** Between the seal of a ring and the one that continues it. */
  @Test
  void aRingThatGrowsGrantsNoMemory() throws Exception {
    far = start(2);
    near = start(1);
    Connection here = connect(near);
    assertThat(far.largeMemory().take(BUDGET)).as("for what handlers have").isTrue();
    RingProducer old = new RingProducer(Arena.ofAuto().allocate(RingLayout.bytes(RING), 128), RING);
    old.seal();
    AtomicBoolean growing = new AtomicBoolean(true);
    here.runOn(
        new HookedLink(here.link(), () -> {}) {
          @Override
          public RingProducer out(int priority) {
            return growing.get() && priority == RingPair.DATA ? old : super.out(priority);
          }

          @Override
          public boolean grows(int priority, RingProducer sealed) {
            return sealed == old || super.grows(priority, sealed);
          }
        });
    try {
      long end = System.nanoTime() + WAIT_NS;
      assertThat(here.largeTransfers().awaitGrant(here.newStream(), 2 << 20, end)).isFalse();
    } finally {
      growing.set(false);
    }
  }
}
