// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.ffi.Libc;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Variant.class)
class AsyncEventsTest {
  /** Waits for an event. */
  static AsyncEvent next(Context context) {
    while (true) {
      Optional<AsyncEvent> event = context.pollAsync();
      if (event.isPresent()) {
        return event.orElseThrow();
      }
      if (!Libc.awaitReadable(context.asyncDescriptor(), 60_000)) {
        throw new AssertionError("no event came");
      }
    }
  }

  @Test
  void nothingHappensAtFirst() {
    try (Context context = Variant.open()) {
      assertThat(context.pollAsync()).isEmpty();
    }
  }

  @Test
  void eventsNameTheirObjectAndAreAcknowledgedAtOnce() {
    assumeFalse(Variant.isDevice(), "only the provider raises events on demand");
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      Loopback.raise(pair.context, AsyncEvent.Type.QUEUE_PAIR_FATAL, pair.left.queuePair, 0);
      Loopback.raise(pair.context, AsyncEvent.Type.PORT_ERROR, null, 1);
      Loopback.raise(pair.context, AsyncEvent.Type.DEVICE_FATAL, null, 0);
      AsyncEvent fatal = next(pair.context);
      assertThat(fatal.type()).isEqualTo(AsyncEvent.Type.QUEUE_PAIR_FATAL);
      assertThat(fatal.ifQueuePair()).contains(pair.left.queuePair);
      AsyncEvent port = next(pair.context);
      assertThat(port.type()).isEqualTo(AsyncEvent.Type.PORT_ERROR);
      assertThat(port.port()).isEqualTo(1);
      assertThat(next(pair.context).type()).isEqualTo(AsyncEvent.Type.DEVICE_FATAL);
      assertThat(Loopback.unacknowledged()).isZero();
    }
  }

  @Test
  void aPortGoesDownAndComesUpAgain() {
    assumeFalse(Variant.isDevice(), "only the provider takes its port down on demand");
    try (Context one = Variant.open();
        Context other = Variant.open()) {
      Loopback.port(false);
      try {
        assertThat(one.port(1).state()).isEqualTo(PortAttributes.State.DOWN);
        for (Context each : List.of(one, other)) {
          AsyncEvent down = next(each);
          assertThat(down.type()).isEqualTo(AsyncEvent.Type.PORT_ERROR);
          assertThat(down.port()).isEqualTo(1);
        }
      } finally {
        Loopback.port(true);
      }
      assertThat(one.port(1).state()).isEqualTo(PortAttributes.State.ACTIVE);
      for (Context each : List.of(one, other)) {
        AsyncEvent up = next(each);
        assertThat(up.type()).isEqualTo(AsyncEvent.Type.PORT_ACTIVE);
        assertThat(up.port()).isEqualTo(1);
      }
    }
  }

  @Test
  void anEventOfAnObjectThatIsClosedIsDropped() {
    assumeFalse(Variant.isDevice(), "only the provider raises events on demand");
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      CompletionQueue queue = pair.context.completionQueue(4);
      QueuePair gone = QueuePair.rc(pair.domain).send(queue, 1).receive(queue, 1).open();
      Loopback.raise(pair.context, AsyncEvent.Type.QUEUE_PAIR_FATAL, gone, 0);
      gone.close();
      Loopback.raise(pair.context, AsyncEvent.Type.PORT_ACTIVE, null, 1);
      assertThat(next(pair.context).type()).isEqualTo(AsyncEvent.Type.PORT_ACTIVE);
      queue.close();
    }
  }

  @Test
  void anOverflowOfACompletionQueueIsTold() {
    assumeFalse(
        Variant.isDevice(), "reservation prevents it; only the provider overflows on demand");
    try (Context context = Variant.open();
        CompletionQueue queue = context.completionQueue(4)) {
      Loopback.stuff(queue, 5);
      AsyncEvent event = next(context);
      assertThat(event.type()).isEqualTo(AsyncEvent.Type.COMPLETION_QUEUE_ERROR);
      assertThat(event.completionQueue()).isSameAs(queue);
    }
  }
}
