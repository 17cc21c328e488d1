// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** The ring's interleavings, as tests of jcstress; {@link RingStressedTest} runs them. */
public final class RingStress {
  private static final int CAPACITY = RingLayout.MIN_CAPACITY;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private RingStress() {}

  /** On the heap: jcstress makes very many of them. */
  private static MemorySegment memory() {
    return MemorySegment.ofArray(new long[RingLayout.bytes(CAPACITY) / Long.BYTES]);
  }

  private static void send(RingProducer ring, int value) {
    long claim = ring.tryClaim(8);
    ring.memory().set(INT, ring.offset(claim) + 4, value);
    ring.commit(claim, 8);
  }

  private static int take(RingConsumer ring) {
    if (ring.peek() == 0) {
      return 0;
    }
    int value = ring.memory().get(INT, ring.offset() + 4);
    ring.advance();
    return value;
  }

  /** A record is committed while the consumer falls asleep. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "seen")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "seen, and woken")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "sleeps, and is woken")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class CommitAgainstSleep {
    private final MemorySegment memory = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Sends. */
    @Actor
    public void producer(II_Result result) {
      send(producer, 1);
      result.r2 = producer.mustWake() ? 1 : 0;
    }

    /** Falls asleep if there is nothing. */
    @Actor
    public void consumer(II_Result result) {
      consumer.arm();
      result.r1 = consumer.peek() == 0 ? 1 : 0;
    }
  }

  /** The head moves while a producer begins to wait for room. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "room seen")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "room seen, and told")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "waits, and is told")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "waits for ever")
  @State
  public static class HeadAgainstWait {
    private final MemorySegment memory = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Fills the ring. */
    public HeadAgainstWait() {
      for (int i = 0; i < 2; i++) {
        producer.commit(producer.tryClaim(CAPACITY / 2), CAPACITY / 2);
      }
    }

    /** Takes one. */
    @Actor
    public void consumer(II_Result result) {
      consumer.peek();
      consumer.advance();
      consumer.publish();
      result.r2 = consumer.mustWake() ? 1 : 0;
    }

    /** Waits for room. */
    @Actor
    public void producer(II_Result result) {
      producer.want();
      result.r1 = producer.tryClaim(8) < 0 ? 1 : 0;
    }
  }

  /** Two producers claim at once; one consumer. */
  @JCStressTest
  @Outcome(
      id = {"1, 2", "2, 1"},
      expect = ACCEPTABLE,
      desc = "both, whole")
  @Outcome(expect = FORBIDDEN, desc = "one is lost, or torn")
  @State
  public static class TwoProducers {
    private final MemorySegment memory = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** One. */
    @Actor
    public void first() {
      send(producer, 1);
    }

    /** The other. */
    @Actor
    public void second() {
      send(producer, 2);
    }

    /** Takes both. */
    @Arbiter
    public void after(II_Result result) {
      result.r1 = take(consumer);
      result.r2 = take(consumer);
    }
  }

  /** The ring is sealed while a producer claims. */
  @JCStressTest
  @Outcome(
      id = {"1, 1", "0, 0"},
      expect = ACCEPTABLE,
      desc = "before the end, or refused")
  @Outcome(expect = FORBIDDEN, desc = "behind the end, or refused and seen")
  @State
  public static class SealAgainstClaim {
    private final MemorySegment memory = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Sends. */
    @Actor
    public void producer(II_Result result) {
      long claim = producer.tryClaim(8);
      if (claim >= 0) {
        producer.memory().set(INT, producer.offset(claim) + 4, 1);
        producer.commit(claim, 8);
        result.r1 = 1;
      }
    }

    /** Seals. */
    @Actor
    public void sealer() {
      producer.seal();
    }

    /** Looks what is before the end. */
    @Arbiter
    public void after(II_Result result) {
      while (!consumer.ended()) {
        result.r2 += take(consumer);
      }
    }
  }

  /** The ring goes on in another one while a producer claims. */
  @JCStressTest
  @Outcome(
      id = {"1, 1", "0, 0"},
      expect = ACCEPTABLE,
      desc = "in the old one, or refused")
  @Outcome(expect = FORBIDDEN, desc = "lost at the end, or refused and seen")
  @State
  public static class GrowthAgainstClaim {
    private final MemorySegment memory = memory();
    private final MemorySegment next = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Sends. */
    @Actor
    public void producer(II_Result result) {
      long claim = producer.tryClaim(8);
      if (claim >= 0) {
        producer.memory().set(INT, producer.offset(claim) + 4, 1);
        producer.commit(claim, 8);
        result.r1 = 1;
      }
    }

    /** Grows. */
    @Actor
    public void grower() {
      producer.continueIn(next, CAPACITY);
    }

    /** Takes all of the old one, and goes on in the next, which begins there. */
    @Arbiter
    public void after(II_Result result) {
      while (!consumer.goesOn()) {
        result.r2 += take(consumer);
      }
      consumer.continueIn(next, CAPACITY);
    }
  }

  /** The ring goes on in another one while the consumer falls asleep. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "seen")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "seen, and woken")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "sleeps, and is woken")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class GrowthAgainstSleep {
    private final MemorySegment memory = memory();
    private final MemorySegment next = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Grows. */
    @Actor
    public void producer(II_Result result) {
      producer.continueIn(next, CAPACITY);
      result.r2 = producer.mustWake() ? 1 : 0;
    }

    /** Falls asleep if there is nothing. */
    @Actor
    public void consumer(II_Result result) {
      consumer.arm();
      result.r1 = consumer.peek() == 0 && !consumer.goesOn() ? 1 : 0;
    }
  }

  /** The control: without the fence, a wake-up is lost. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "nobody sleeps for ever")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class WithoutFences {
    private final MemorySegment memory = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Commits, and looks. */
    @Actor
    public void producer(II_Result result) {
      producer.commit(producer.tryClaim(8), 8);
      result.r2 = (int) RingLayout.INT.getOpaque(memory, (long) RingLayout.SLEEP);
    }

    /** Sleeps, and looks. */
    @Actor
    public void consumer(II_Result result) {
      RingLayout.INT.setRelease(memory, (long) RingLayout.SLEEP, 1);
      result.r1 = consumer.peek() == 0 ? 1 : 0;
    }
  }

  /** A consumer sees what was written before the length. */
  @JCStressTest
  @Outcome(
      id = {"0", "5"},
      expect = ACCEPTABLE,
      desc = "nothing yet, or all of it")
  @Outcome(expect = FORBIDDEN, desc = "the length without the bytes")
  @State
  public static class BytesBeforeLength {
    private final MemorySegment memory = memory();
    private final RingProducer producer = new RingProducer(memory, CAPACITY);
    private final RingConsumer consumer = new RingConsumer(memory, CAPACITY);

    /** Sends. */
    @Actor
    public void producer() {
      send(producer, 5);
    }

    /** Takes. */
    @Actor
    public void consumer(I_Result result) {
      result.r1 = consumer.peek() == 0 ? 0 : memory.get(INT, consumer.offset() + 4);
    }
  }
}
