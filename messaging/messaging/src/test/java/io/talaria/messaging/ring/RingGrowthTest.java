// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A ring that goes on in a larger one. */
@Timeout(120)
class RingGrowthTest {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final int MIN_CAPACITY = RingLayout.MIN_CAPACITY;

  private static boolean send(RingProducer ring, int value, int bytes) {
    long claim = ring.tryClaim(bytes);
    if (claim < 0) {
      return false;
    }
    ring.memory().set(INT, ring.offset(claim) + 4, value);
    ring.commit(claim, bytes);
    return true;
  }

  private static int take(RingConsumer ring) {
    int value = ring.peek() == 0 ? -1 : ring.memory().get(INT, ring.offset() + 4);
    if (value >= 0) {
      ring.advance();
    }
    return value;
  }

  @Test
  void theNextRingGoesOnWhereTheOneBeforeEnds() {
    for (long start : new long[] {0, 77, MIN_CAPACITY / 8 - 3, RingLayout.POSITION_MASK - 40}) {
      MemorySegment small = Rings.at(MIN_CAPACITY, start);
      MemorySegment large = Rings.at(4 * MIN_CAPACITY, 0);
      RingProducer old = new RingProducer(small, MIN_CAPACITY);
      RingConsumer in = new RingConsumer(small, MIN_CAPACITY);
      int sent = 0;
      while (send(old, sent, 104)) {
        sent++;
      }
      assertThat(take(in)).isZero();
      in.publish();
      in.publishDelivered(in.position());
      final long deliveredBefore = old.delivered();
      RingProducer out = old.continueIn(large, 4 * MIN_CAPACITY);
      assertThat(old.tryClaim(8)).isEqualTo(RingProducer.SEALED);
      assertThat(out.claimed()).isEqualTo(old.claimed());
      assertThat(out.delivered()).isEqualTo(deliveredBefore);
      assertThat(out.beforeDrained()).isFalse();
      for (int i = 0; i < 200; i++) {
        assertThat(send(out, sent++, 104)).isTrue();
      }
      int next = 1;
      while (!in.goesOn()) {
        assertThat(in.ended()).as("it goes on").isFalse();
        assertThat(take(in)).isEqualTo(next++);
      }
      // Told in the old ring until the consumer has moved on.
      in.publishDelivered(in.position());
      assertThat(out.delivered()).isEqualTo(old.claimed());
      in = in.continueIn(large, 4 * MIN_CAPACITY);
      assertThat(out.beforeDrained()).isTrue();
      assertThat(out.delivered()).isEqualTo(old.claimed());
      while (next < sent) {
        assertThat(take(in)).isEqualTo(next++);
      }
      in.publish();
      in.publishDelivered(in.position());
      assertThat(out.delivered()).isEqualTo(out.claimed());
      assertThat(out.unconsumedBytes()).isZero();
      out.seal();
      assertThat(in.ended()).isTrue();
      assertThat(in.goesOn()).isFalse();
      assertThat(out.quiet()).isTrue();
    }
  }

  @Test
  void aRingThatBeginsElsewhereIsBroken() {
    MemorySegment small = Rings.at(MIN_CAPACITY, 0);
    RingProducer old = new RingProducer(small, MIN_CAPACITY);
    RingConsumer in = new RingConsumer(small, MIN_CAPACITY);
    MemorySegment large = Rings.at(4 * MIN_CAPACITY, 0);
    old.continueIn(large, 4 * MIN_CAPACITY);
    RingLayout.LONG.set(large, (long) RingLayout.HEAD, RingLayout.word(9));
    assertThat(in.goesOn()).isTrue();
    assertThatThrownBy(() -> in.continueIn(large, 4 * MIN_CAPACITY))
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("begins at 9");
    assertThatThrownBy(() -> in.continueIn(large, 0)).isInstanceOf(RingBrokenException.class);
  }

  /** Producers that do not stop; each one's records in order, through three rings. */
  @Test
  void nothingIsLostWhileProducersGoOn() throws Exception {
    for (int round = 0; round < 20; round++) {
      grow(round);
    }
  }

  private static void grow(int round) throws Exception {
    int producers = 3;
    int each = 20_000;
    List<MemorySegment> memory = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      memory.add(Rings.at(MIN_CAPACITY << (2 * i), 0));
    }
    AtomicReference<RingProducer> out =
        new AtomicReference<>(new RingProducer(memory.get(0), MIN_CAPACITY));
    List<Thread> threads = new ArrayList<>();
    for (int p = 0; p < producers; p++) {
      int first = p * each;
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < each; ) {
                      if (send(out.get(), first + i, 24)) {
                        i++;
                      } else {
                        Thread.yield();
                      }
                    }
                  }));
    }
    RingConsumer in = new RingConsumer(memory.get(0), MIN_CAPACITY);
    int[] next = new int[producers];
    int made = 0;
    int moved = 0;
    for (int got = 0; got < producers * each; ) {
      int value = take(in);
      if (value >= 0) {
        assertThat(value % each)
            .as("of %d, round %d", value / each, round)
            .isEqualTo(next[value / each]++);
        got++;
        if (made < 2 && got > (made + 1) * 5_000 && out.get().beforeDrained()) {
          made++;
          out.set(out.get().continueIn(memory.get(made), MIN_CAPACITY << (2 * made)));
        }
      } else if (in.goesOn()) {
        moved++;
        in = in.continueIn(memory.get(moved), MIN_CAPACITY << (2 * moved));
      }
      in.publish();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(moved).isEqualTo(2);
  }
}
