// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ring beside a model, with random sizes, near every wrap, with 1 to 16 producers. */
@Timeout(300)
class RingModelTest {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final int HEADER = 24;
  private static final int LEAST = RingLayout.MIN_CAPACITY;

  /** A record, but for its length: producer, sequence, then bytes made of both. */
  private static void write(RingProducer ring, long claim, int length, int producer, int sequence) {
    MemorySegment memory = ring.memory();
    long at = ring.offset(claim);
    memory.set(INT, at + 4, producer);
    memory.set(INT, at + 8, sequence);
    for (int i = HEADER; i < length; i++) {
      memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) (producer + sequence + i));
    }
  }

  private static int aligned(int length) {
    return length + 7 & -8;
  }

  /** Checks the record found; returns its producer. */
  private static int check(RingReceiver ringReceiver, int bytes, int[] next) {
    MemorySegment memory = ringReceiver.memory();
    long at = ringReceiver.offset();
    int length = memory.get(INT, at);
    int producer = memory.get(INT, at + 4);
    assertThat(aligned(length)).isEqualTo(bytes);
    assertThat(memory.get(INT, at + 8)).as("sequence of %d", producer).isEqualTo(next[producer]++);
    for (int i = HEADER; i < length; i++) {
      byte expected = (byte) (producer + next[producer] - 1 + i);
      if (memory.get(ValueLayout.JAVA_BYTE, at + i) != expected) {
        throw new AssertionError("byte " + i + " of " + length + " of producer " + producer);
      }
    }
    return producer;
  }

  @Test
  void theRingDoesWhatTheModelDoes() {
    long seed = Seed.next();
    Random random = new Random(seed);
    long half = 1L << 42;
    long[] positions = {0, 1, LEAST / 8 - 3, half - 2, RingLayout.POSITION_MASK - 40};
    for (long position : positions) {
      for (int i = 0; i < 7; i++) {
        againstModel(random, position);
      }
    }
  }

  private static void againstModel(Random random, long position) {
    MemorySegment memory = Rings.at(LEAST, position);
    RingProducer producer = new RingProducer(memory, LEAST);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    Deque<Integer> model = new ArrayDeque<>();
    int sequence = 0;
    int[] next = new int[1];
    for (int step = 0; step < 3000; step++) {
      if (random.nextInt(100) < 55) {
        int length =
            random.nextInt(10) == 0
                ? HEADER + random.nextInt(producer.maxBytes() - HEADER)
                : HEADER + random.nextInt(80);
        int bytes = aligned(length);
        long claim = producer.tryClaim(bytes);
        if (claim == RingProducer.BACK_PRESSURED) {
          // A filler takes less than the record that does not fit in its place.
          assertThat(producer.unconsumedBytes() + 2L * bytes)
              .as("no room for %d", bytes)
              .isGreaterThan(LEAST);
          continue;
        }
        assertThat(claim).isNotNegative();
        if (random.nextInt(8) == 0) {
          producer.abort(claim, bytes);
        } else {
          write(producer, claim, length, 0, sequence++);
          producer.commit(claim, length);
          model.add(bytes);
        }
      } else {
        int bytes = consumer.peek();
        if (bytes == 0) {
          assertThat(model).isEmpty();
          consumer.publish();
          assertThat(producer.drained()).isTrue();
        } else {
          assertThat(bytes).isEqualTo(model.remove());
          check(consumer, bytes, next);
          consumer.advance();
          if (random.nextBoolean()) {
            consumer.publish();
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 16})
  void eachRecordComesOnceWholeAndInTheOrderOfItsProducer(int producers) throws Exception {
    int each = 40_000 / producers;
    long position = RingLayout.POSITION_MASK - 5000; // wraps on the way
    MemorySegment memory = Rings.at(LEAST, position & -8);
    RingProducer ring = new RingProducer(memory, LEAST);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int p = 0; p < producers; p++) {
      int producer = p;
      Thread thread = new Thread(() -> produce(ring, producer, each), "producer " + p);
      thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
      threads.add(thread);
      thread.start();
    }
    int[] next = new int[producers];
    for (int got = 0; got < producers * each; ) {
      int bytes = consumer.peek();
      if (bytes == 0) {
        consumer.publish();
        assertThat(failure.get()).isNull();
        Thread.yield();
        continue;
      }
      check(consumer, bytes, next);
      consumer.advance();
      got++;
      if (consumer.unpublishedBytes() > LEAST / 4) {
        consumer.publish();
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(next).containsOnly(each);
    assertThat(consumer.peek()).isZero();
    consumer.publish();
    assertThat(ring.drained()).isTrue();
    assertThat(ring.quiet()).isTrue();
  }

  private static void produce(RingProducer ring, int producer, int count) {
    Random random = new Random(producer);
    for (int sequence = 0; sequence < count; ) {
      int length = HEADER + random.nextInt(random.nextInt(20) == 0 ? 3000 : 40);
      int bytes = aligned(length);
      long claim = ring.tryClaim(bytes);
      if (claim == RingProducer.BACK_PRESSURED) {
        Thread.yield();
      } else if (random.nextInt(16) == 0) {
        ring.abort(claim, bytes);
      } else {
        write(ring, claim, length, producer, sequence++);
        ring.commit(claim, length);
      }
    }
  }

  @Test
  void aClaimThatIsNotCommittedHidesWhatComesBehindItAndStopsNobody() {
    MemorySegment memory = Rings.at(LEAST, 0);
    RingProducer ring = new RingProducer(memory, LEAST);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    long slow = ring.tryClaim(32);
    int others = 0;
    for (long claim; (claim = ring.tryClaim(32)) >= 0; others++) {
      write(ring, claim, 32, 0, others);
      ring.commit(claim, 32);
    }
    assertThat(others).isEqualTo(LEAST / 32 - 2); // behind the last one is a length, too
    assertThat(consumer.peek()).isZero();
    ring.seal();
    assertThat(ring.quiet()).isFalse();
    ring.abort(slow, 32);
    assertThat(ring.quiet()).isTrue();
    int[] next = new int[1];
    for (int i = 0; i < others; i++) {
      assertThat(consumer.peek()).isEqualTo(32);
      check(consumer, 32, next);
      assertThat(consumer.ended()).isFalse();
      consumer.advance();
    }
    assertThat(consumer.ended()).isTrue();
  }

  @Test
  void nothingIsClaimedBehindTheSeal() {
    MemorySegment memory = Rings.at(LEAST, 0);
    RingProducer ring = new RingProducer(memory, LEAST);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    assertThat(consumer.ended()).isFalse();
    ring.seal();
    ring.seal();
    assertThat(ring.tryClaim(8)).isEqualTo(RingProducer.SEALED);
    assertThat(consumer.ended()).isTrue();
  }

  @Test
  void aHeadThatCannotBeIsFound() {
    MemorySegment memory = Rings.at(LEAST, 100);
    RingProducer ring = new RingProducer(memory, LEAST);
    for (long wrong :
        new long[] {RingLayout.word(101), RingLayout.word(100) | 8, -1, Long.MIN_VALUE}) {
      RingLayout.LONG.set(memory, (long) RingLayout.HEAD, wrong);
      assertThat(thrownBy(ring)).as("head %x", wrong).isInstanceOf(RingBrokenException.class);
    }
  }

  @Test
  void whatCannotBeKnownIsNotQuiet() {
    MemorySegment memory = Rings.at(LEAST, 0);
    RingProducer ring = new RingProducer(memory, LEAST);
    long claim = ring.tryClaim(16);
    ring.commit(claim, 16);
    ring.seal();
    assertThat(ring.quiet()).isTrue();
    for (int wrong : new int[] {17, -17, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      RingLayout.LENGTH.set(memory, ring.offset(claim), wrong);
      assertThat(ring.quiet()).as("length %x", wrong).isFalse();
    }
    for (long wrong : new long[] {RingLayout.word(3), RingLayout.word(-1L - LEAST), -1}) {
      RingLayout.LONG.set(memory, (long) RingLayout.HEAD, wrong);
      assertThat(ring.quiet()).as("head %x", wrong).isFalse();
    }
  }

  private static Throwable thrownBy(RingProducer ring) {
    try {
      ring.drained();
      return null;
    } catch (RingBrokenException e) {
      return e;
    }
  }

  @Test
  void aLengthThatReachesOverTheEndIsFound() {
    MemorySegment memory = Rings.at(LEAST, LEAST / 8 - 2);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    RingLayout.LENGTH.set(memory, consumer.offset(), 17);
    try {
      int found = consumer.peek();
      throw new AssertionError("found " + found);
    } catch (RingBrokenException e) {
      assertThat(e).hasMessageContaining("reaches over the end");
    }
  }

  @Test
  void aSleepingConsumerIsWokenByOneAndOnce() {
    MemorySegment memory = Rings.at(LEAST, 0);
    RingProducer ring = new RingProducer(memory, LEAST);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    assertThat(ring.mustWake()).isFalse();
    for (int i = 0; i < 3; i++) {
      consumer.arm();
      assertThat(ring.mustWake()).isTrue();
      assertThat(ring.mustWake()).isFalse();
      consumer.disarm();
      assertThat(ring.mustWake()).isFalse();
    }
  }

  @Test
  void whoWantsRoomIsToldOnceAWait() {
    MemorySegment memory = Rings.at(LEAST, 0);
    RingProducer ring = new RingProducer(memory, LEAST);
    RingConsumer consumer = new RingConsumer(memory, LEAST);
    assertThat(consumer.mustWake()).isFalse();
    ring.want();
    assertThat(consumer.mustWake()).isTrue();
    assertThat(consumer.mustWake()).isFalse();
    ring.want(); // another one, or again
    assertThat(consumer.mustWake()).isTrue();
    ring.wantNoMore();
    assertThat(consumer.mustWake()).isFalse();
  }

  @Test
  void aMirrorGivesWhatTheRingHad() {
    long seed = Seed.next();
    Random random = new Random(seed);
    MemorySegment memory = Rings.at(LEAST, 0);
    RingProducer ring = new RingProducer(memory, LEAST);
    RingConsumer sender = new RingConsumer(memory, LEAST);
    MirrorReceiver mirror = new MirrorReceiver(Arena.ofAuto().allocate(LEAST, 8));
    int sequence = 0;
    int[] next = new int[1];
    for (int round = 0; round < 3000; round++) {
      for (int i = random.nextInt(20); i > 0; i--) {
        int length = HEADER + random.nextInt(random.nextInt(10) == 0 ? 4000 : 50);
        long claim = ring.tryClaim(aligned(length));
        if (claim < 0) {
          break;
        }
        if (random.nextInt(5) == 0) {
          ring.abort(claim, aligned(length));
        } else {
          write(ring, claim, length, 0, sequence++);
          ring.commit(claim, length);
        }
      }
      for (int found; (found = sender.peekWithPads()) != 0; sender.advance()) {
        int bytes = Math.max(found, 0);
        int skipped = Math.max(-found, 0);
        assertThat(mirror.accepts(bytes, skipped)).isTrue();
        assertThat(mirror.accepts(2 * LEAST, 0)).isFalse();
        MemorySegment.copy(memory, sender.offset(), mirror.memory(), mirror.writeOffset(), bytes);
        mirror.wrote(bytes, skipped);
      }
      for (int bytes; (bytes = mirror.peek()) != 0; mirror.advance()) {
        check(mirror, bytes, next);
      }
      mirror.publish();
      sender.publish();
    }
    assertThat(next[0]).isEqualTo(sequence).isPositive();
  }
}
