// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Sleep and wake-up by {@link SleepWord}, as tests of jcstress, and negative controls in which one
 * of its rules is left out; {@code RingStressedTest} of the shared-memory transport runs them.
 */
public final class SleepWordStress {
  private static final int FIRST = SleepWord.asleepAfter(0);

  private SleepWordStress() {}

  /** A sleeper and a waker, each of which can do without its fence. */
  @SuppressWarnings("UnusedVariable") // by the handles
  static class Sides {
    private static final VarHandle WORD;
    private static final VarHandle PUBLISHED;
    private static final VarHandle DOORBELL;

    static {
      try {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        WORD = lookup.findVarHandle(Sides.class, "word", int.class);
        PUBLISHED = lookup.findVarHandle(Sides.class, "published", int.class);
        DOORBELL = lookup.findVarHandle(Sides.class, "doorbell", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private int word;
    private int published;
    private int doorbell;

    /** The waker's. */
    private int woken;

    /** Nobody has slept yet. */
    Sides() {}

    /** The waker has published something and woken the sleeper, which is awake. */
    Sides(int firstEpoch) {
      published = 1;
      woken = firstEpoch;
      word = SleepWord.awakeAfter(firstEpoch);
    }

    /** Publishes, and sends a doorbell to a sleep that has got none. */
    final void publish(int value, boolean fence) {
      PUBLISHED.setRelease(this, value);
      if (fence) {
        SleepWord.publishBeforeLook();
      }
      int epoch = (int) WORD.getAcquire(this);
      if (SleepWord.asleep(epoch) && epoch != woken) {
        DOORBELL.setVolatile(this, 1);
        woken = epoch;
      }
    }

    /** Announces a sleep; returns 1 if the sleeper then sleeps until its doorbell, or 0. */
    final int sleep(int epoch, int until, boolean fence) {
      WORD.setRelease(this, epoch);
      if (fence) {
        SleepWord.publishBeforeLook();
      }
      return (int) PUBLISHED.getAcquire(this) < until ? 1 : 0;
    }

    final int nextEpoch() {
      return SleepWord.asleepAfter(word);
    }

    final int doorbells() {
      return doorbell;
    }
  }

  /** Something is published while the sleeper falls asleep. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "seen")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "seen, and woken")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "sleeps, and is woken")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class PublicationAgainstSleep extends Sides {
    /** Publishes. */
    @Actor
    public void waker() {
      publish(1, true);
    }

    /** Falls asleep. */
    @Actor
    public void sleeper(II_Result result) {
      result.r1 = sleep(nextEpoch(), 1, true);
    }

    /** Looks whether there was a doorbell. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = doorbells();
    }
  }

  /** The same, at the second sleep of a sleeper whose first one the waker remembers. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "seen")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "seen, and woken")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "sleeps, and is woken")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class PublicationAgainstSecondSleep extends Sides {
    /** After the first sleep. */
    public PublicationAgainstSecondSleep() {
      super(FIRST);
    }

    /** Publishes. */
    @Actor
    public void waker() {
      publish(2, true);
    }

    /** Falls asleep. */
    @Actor
    public void sleeper(II_Result result) {
      result.r1 = sleep(nextEpoch(), 2, true);
    }

    /** Looks whether there was a doorbell. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = doorbells();
    }
  }

  /** Negative control: the waker looks without a fence. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @Outcome(expect = ACCEPTABLE, desc = "what was published is seen, or the sleep is")
  @State
  public static class WithoutFenceOfWaker extends Sides {
    /** Publishes. */
    @Actor
    public void waker() {
      publish(1, false);
    }

    /** Falls asleep. */
    @Actor
    public void sleeper(II_Result result) {
      result.r1 = sleep(nextEpoch(), 1, true);
    }

    /** Looks whether there was a doorbell. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = doorbells();
    }
  }

  /** Negative control: the sleeper looks without a fence. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @Outcome(expect = ACCEPTABLE, desc = "what was published is seen, or the sleep is")
  @State
  public static class WithoutFenceOfSleeper extends Sides {
    /** Publishes. */
    @Actor
    public void waker() {
      publish(1, true);
    }

    /** Falls asleep. */
    @Actor
    public void sleeper(II_Result result) {
      result.r1 = sleep(nextEpoch(), 1, false);
    }

    /** Looks whether there was a doorbell. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = doorbells();
    }
  }

  /** Negative control: the second sleep has the epoch of the first. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "sleeps for ever")
  @Outcome(expect = ACCEPTABLE, desc = "what was published is seen, or the sleep is")
  @State
  public static class SameEpochAgain extends Sides {
    /** After the first sleep. */
    public SameEpochAgain() {
      super(FIRST);
    }

    /** Publishes. */
    @Actor
    public void waker() {
      publish(2, true);
    }

    /** Falls asleep. */
    @Actor
    public void sleeper(II_Result result) {
      result.r1 = sleep(FIRST, 2, true);
    }

    /** Looks whether there was a doorbell. */
    @Arbiter
    public void after(II_Result result) {
      result.r2 = doorbells();
    }
  }
}
