// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Request;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.node.LocalNode;
import io.talaria.messaging.transport.RingPair;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Responses that wait while their ring becomes larger. */
@Timeout(180)
class GrowingOutboxTest {
  private static final int BUDGET = 8 << 20;
  private static final int FIRST_RING = 16 << 10;

  /** The first ring takes three of them, and the first slice of the fourth. */
  private static final int BYTES = 4500;

  private static final int RESPONSES = 8;

  record Figure(long value) {}

  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  record Load(byte[] bytes) {}

  @TempDir Path directory;
  private final Queue<Request> kept = new ConcurrentLinkedQueue<>();
  private final CountDownLatch busy = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);
  private LocalNode near;
  private LocalNode far;

  @AfterEach
  void close() {
    free.countDown();
    RunningNodes.close(near, far);
  }

  private LocalNode start(int id) throws Exception {
    return RunningNodes.start(
        TestOptions.of(id, Transport.SHM, directory)
            .receiveBudget(BUDGET)
            .sendTimeout(LIMIT)
            .type(Load.class)
            .receive(Figure.class, Dispatch.INLINE, (figure, from) -> {})
            .handle(Figure.class, Dispatch.INLINE, (figure, request) -> kept.add(request)));
  }

  /** Else incomplete responses would keep memory of the requester until the connection ends. */
  @Test
  void whatWasBegunInSlicesIsFinishedInSlices() throws Exception {
    far = start(2);
    near = start(1);
    Peer peer = near.peer(2);
    assertThat(peer.awaitDelivered(peer.send(new Figure(0)), LIMIT)).isTrue(); // no response yet
    await(() -> far.remote(1).connection() != null);
    Connection here = near.remote(2).connection();
    Connection there = far.remote(1).connection();
    List<ResponseFuture<Load>> futures = new ArrayList<>();
    for (int i = 0; i < RESPONSES; i++) {
      futures.add(peer.requestAsync(new Figure(i), Load.class, LIMIT));
    }
    await(() -> kept.size() == RESPONSES);
    far.connector().timers().at(System.nanoTime(), this::keepBusy); // the ring stays small
    await(busy);
    await(() -> here.leading().tryLock()); // near reads no responses
    try {
      for (Request each : kept) {
        each.respond(new Load(new byte[BYTES]));
      }
      await(() -> !there.outbox().isEmpty() && there.outbox().blocked());
      free.countDown();
      await(() -> there.link().out(RingPair.CONTROL).capacity() > FIRST_RING);
    } finally {
      here.leading().unlock();
    }
    near.poller().wake();
    for (ResponseFuture<Load> each : futures) {
      assertThat(each.await(LIMIT).bytes()).hasSize(BYTES);
    }
    await(() -> near.largeMemory().take(BUDGET)); // nothing is left of any response
  }

  private void keepBusy() {
    busy.countDown();
    try {
      await(free);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
