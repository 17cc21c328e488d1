// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static io.talaria.messaging.Waits.LIMIT;
import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Dispatch;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.dispatch.Timers;
import io.talaria.messaging.node.LocalNode;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the slots of requests keep, and when they are swept. */
@Timeout(120)
class ResponseSlotsTest {
  private static final int SWEEPS = 100;

  record Figure(long value) {}

  @TempDir Path directory;
  private LocalNode node;

  @AfterEach
  void close() {
    RunningNodes.close(node);
  }

  /** Else ended connections, and their rings, would be kept for as long as the node runs. */
  @Test
  void aFreeSlotKeepsNoConnection() throws Exception {
    node =
        RunningNodes.start(
            TestOptions.of(1, Transport.SHM, directory)
                .sendTimeout(LIMIT)
                .handle(
                    Figure.class, Dispatch.INLINE, (figure, request) -> request.respond(figure)));
    ResponseFuture<Figure> later = node.peer(1).requestAsync(new Figure(1), Figure.class, LIMIT);
    assertThat(node.peer(1).request(new Figure(2), Figure.class, LIMIT)).isEqualTo(new Figure(2));
    assertThat(later.await(LIMIT)).isEqualTo(new Figure(1));
    await(() -> node.responseSlots().open() == 0); // the conductor may give one back
    int slots = 0;
    while (node.responseSlots().at(slots) != null) {
      assertThat(node.responseSlots().at(slots).connection).as("of slot %s", slots).isNull();
      slots++;
    }
    assertThat(slots).isPositive();
  }

  /** An open request with a consumer, which must be called at its timeout. */
  private record Open(long deadlineNs) implements ResponseSlot.Owner {
    @Override
    public void ended(int generation) {}

    @Override
    public boolean sweep(long nowNs) {
      return true;
    }
  }

  /** Else timers would pile up until the longest timeout of a request has passed. */
  @Test
  void aLateTimeoutIsScheduledOnce() {
    Timers timers = new Timers(() -> {});
    ResponseSlots slots = new ResponseSlots(timers);
    long late = System.nanoTime() + Duration.ofHours(1).toNanos();
    ResponseSlot slot = slots.take();
    assertThat(slot.open(null)).isZero();
    slot.owner = new Open(late);
    slots.sweepAt(late);
    long before = timers.added();
    for (int i = 0; i < SWEEPS; i++) {
      slots.sweepAt(System.nanoTime()); // the timeout of another request
      slots.sweep();
    }
    assertThat(timers.added() - before).isEqualTo(SWEEPS);
  }
}
