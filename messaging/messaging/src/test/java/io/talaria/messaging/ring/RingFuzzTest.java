// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A process that lies shares the memory: whatever it writes into any word of a ring, the other side
 * goes on, or says that the ring is broken; it never reads or writes outside, and never spins.
 */
@Timeout(300)
class RingFuzzTest {
  private static final int INPUTS = Integer.getInteger("talaria.test.ring.inputs", 20_000);
  private static final int CAPACITY = RingLayout.MIN_CAPACITY;
  private static final int STEPS = 64;
  private static final int WORDS = RingLayout.DATA + 8 * 64;

  private static final long[] EDGES = {
    0,
    -1,
    1,
    Long.MIN_VALUE,
    Long.MAX_VALUE,
    RingLayout.SEALED | RingLayout.GOES_ON,
    RingLayout.word(CAPACITY) | 1,
    RingLayout.word(RingLayout.POSITION_MASK) | RingLayout.REST_MASK,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    CAPACITY,
    -CAPACITY - 1
  };

  @Test
  void whateverTheOtherSideWritesStaysInside() {
    long seed = Seed.next();
    Random random = new Random(seed);
    int broken = 0;
    for (int i = 0; i < INPUTS; i++) {
      try (Arena arena = Arena.ofConfined()) {
        broken += input(random, arena) ? 1 : 0;
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", input " + i, e);
      }
    }
    System.out.println("seed " + seed + ": " + broken + " of " + INPUTS + " rings found broken");
    assertThat(broken).isBetween(INPUTS / 100, INPUTS - INPUTS / 100);
  }

  /** Sends and takes while words change; whether that was found. */
  private static boolean input(RandomGenerator random, Arena arena) {
    MemorySegment memory = arena.allocate(RingLayout.bytes(CAPACITY), 128);
    RingProducer producer = new RingProducer(memory, CAPACITY);
    RingConsumer consumer = new RingConsumer(memory, CAPACITY);
    try {
      for (int step = 0; step < STEPS; step++) {
        step(random, memory, producer, consumer);
      }
    } catch (RingBrokenException e) {
      assertThat(e.getMessage()).isNotEmpty();
      return true;
    }
    return false;
  }

  private static void step(
      RandomGenerator random, MemorySegment memory, RingProducer producer, RingConsumer consumer) {
    switch (random.nextInt(6)) {
      case 0 -> lie(random, memory);
      case 1, 2 -> {
        int bytes = 8 + 8 * random.nextInt(400);
        long claim = producer.tryClaim(bytes);
        if (claim >= 0) {
          memory.asSlice(producer.offset(claim), bytes).fill((byte) step(bytes));
          producer.commit(claim, bytes);
        }
        boolean unused = producer.mustWake();
      }
      case 3, 4 -> {
        int found = consumer.peek();
        if (found != 0) {
          assertThat(memory.asSlice(consumer.offset(), found).byteSize()).isEqualTo(found);
          consumer.advance();
        }
        if (random.nextBoolean()) {
          consumer.publish();
          boolean unused = consumer.mustWake();
        }
      }
      default -> {
        consumer.arm();
        consumer.disarm();
        producer.want();
        producer.wantNoMore();
        assertThat(producer.unconsumedBytes()).isBetween(0L, (long) CAPACITY);
        boolean unused = producer.hasRoom(8);
        unused = consumer.ended() || consumer.goesOn() || producer.quiet();
      }
    }
  }

  private static int step(int bytes) {
    return bytes >>> 3;
  }

  private static void lie(RandomGenerator random, MemorySegment memory) {
    long value = random.nextBoolean() ? random.nextLong() : EDGES[random.nextInt(EDGES.length)];
    if (random.nextBoolean()) {
      memory.set(ValueLayout.JAVA_LONG, random.nextInt(WORDS / 8) * 8L, value);
    } else {
      memory.set(ValueLayout.JAVA_INT, random.nextInt(WORDS / 4) * 4L, (int) value);
    }
  }
}
