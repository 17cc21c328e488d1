// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import io.talaria.nio.memory.SleepWord;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Writes records into a ring. Any number of threads.
 *
 * <p>After a claim the caller must always call {@link #commit} or {@link #abort}, even if writing
 * fails, because the consumer cannot pass an open claim. No call waits or allocates.
 */
public final class RingProducer {
  /** Result of {@link #tryClaim}: there is no room until the consumer has removed something. */
  public static final long BACK_PRESSURED = -1;

  /** Result of {@link #tryClaim}: the ring is sealed and will never accept a claim again. */
  public static final long SEALED = -2;

  private static final VarHandle WORD;
  private static final VarHandle RUNG;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WORD = lookup.findVarHandle(RingProducer.class, "word", long.class);
      RUNG = lookup.findVarHandle(RingProducer.class, "rung", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final MemorySegment ring;
  private final int capacity;
  private final int dataOffset;
  private final int capacityUnits;
  private final int markCount;

  /** The ring that this one continues, or null. */
  private final RingProducer before;

  /** Position and number of the next claim. Changed only by compare-and-set. */
  private volatile long word;

  /** The head as last read. Any producer writes it. */
  private volatile long head;

  /** The sleep epoch in which the consumer was last woken. Changed only by compare-and-set. */
  private volatile int rung;

  /**
   * Creates the producer of a ring.
   *
   * @param ring the ring's memory, in which the words of {@link RingLayout} are zero, or contain a
   *     position that both ends know
   * @param capacity bytes of data
   */
  public RingProducer(MemorySegment ring, int capacity) {
    this(ring, capacity, null);
  }

  private RingProducer(MemorySegment ring, int capacity, RingProducer before) {
    this.before = before;
    this.ring = RingLayout.checked(ring, capacity);
    this.capacity = capacity;
    dataOffset = RingLayout.dataOffset(capacity);
    capacityUnits = capacity >>> RingLayout.UNIT_SHIFT;
    markCount = RingLayout.markCount(capacity);
    head = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD);
    word = head;
  }

  /** The bytes of data. */
  public int capacity() {
    return capacity;
  }

  /** The ring's memory, to which {@link #offset} refers. */
  public MemorySegment memory() {
    return ring;
  }

  /**
   * The largest claim, in bytes. Half the ring, so that a claim fits into an empty ring at any
   * position.
   */
  public int maxBytes() {
    return capacity >>> 1;
  }

  /**
   * Claims room. Does not wait.
   *
   * @param bytes at least 8, a multiple of 8, at most {@link #maxBytes}
   * @return a claim, or {@link #BACK_PRESSURED}, or {@link #SEALED}
   * @throws RingBrokenException if the other process has set the head to an impossible value
   */
  public long tryClaim(int bytes) {
    int units = bytes >>> RingLayout.UNIT_SHIFT;
    for (; ; ) {
      long now = word;
      if (now < 0) {
        return SEALED;
      }
      long position = RingLayout.position(now);
      int claim = RingLayout.claims(now);
      int left = capacityUnits - ((int) position & capacityUnits - 1);
      int filler = left < units ? left : 0;
      int more = filler == 0 ? 1 : 2;
      if (!room(position, claim, filler + units, more)) {
        if (word != now) {
          continue;
        }
        return BACK_PRESSURED;
      }
      long next = RingLayout.word(position + filler + units, claim + more);
      if (WORD.compareAndSet(this, now, next)) {
        if (filler == 0) {
          return now;
        }
        pad(now, filler);
        return RingLayout.word(position + filler, claim + 1);
      }
      Thread.onSpinWait();
    }
  }

  private boolean room(long position, int claim, int units, int more) {
    return fits(head, position, claim, units, more) || fits(look(), position, claim, units, more);
  }

  private boolean fits(long freed, long position, int claim, int units, int more) {
    return RingLayout.distance(RingLayout.position(freed), position) + units <= capacityUnits
        && (claim - RingLayout.claims(freed) & RingLayout.CLAIM_MASK) + more <= markCount;
  }

  /**
   * Reads the head and checks it, because the other process writes it: it cannot be beyond what was
   * claimed.
   */
  private long look() {
    long freed = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD);
    long now = word;
    if (freed < 0
        || RingLayout.distance(RingLayout.position(freed), RingLayout.position(now)) > capacityUnits
        || (RingLayout.claims(now) - RingLayout.claims(freed) & RingLayout.CLAIM_MASK)
            > markCount) {
      throw new RingBrokenException(
          "head is "
              + Long.toHexString(freed)
              + ", with "
              + Long.toHexString(now)
              + " claimed in a ring of "
              + capacity
              + " bytes");
    }
    head = freed;
    return freed;
  }

  /** The offset of a claim's memory in {@link #memory}. */
  public long offset(long claim) {
    return dataOffset + ((RingLayout.position(claim) & capacityUnits - 1) << RingLayout.UNIT_SHIFT);
  }

  /** The position after a claim of this many bytes. */
  public long endOf(long claim, int bytes) {
    return RingLayout.position(claim) + (bytes >>> RingLayout.UNIT_SHIFT)
        & RingLayout.POSITION_MASK;
  }

  /** Publishes the record that was written into a claim. */
  public void commit(long claim, int bytes) {
    mark(claim, bytes >>> RingLayout.UNIT_SHIFT);
  }

  /** Gives up a claim: it becomes a pad, which the consumer skips. */
  public void abort(long claim, int bytes) {
    pad(claim, bytes >>> RingLayout.UNIT_SHIFT);
  }

  private void pad(long claim, int units) {
    mark(claim, units | RingLayout.PAD);
  }

  private void mark(long claim, int mark) {
    int number = RingLayout.claims(claim);
    RingLayout.INT.setRelease(
        ring,
        RingLayout.MARKS + (long) (number & markCount - 1) * Integer.BYTES,
        mark | RingLayout.lap(number, markCount));
  }

  /**
   * Call after a commit. Returns true if the consumer sleeps and the caller must wake it; to only
   * one thread for each sleep.
   */
  public boolean mustWake() {
    SleepWord.publishBeforeLook();
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP);
    return SleepWord.asleep(epoch) && wakeOnce(epoch);
  }

  private boolean wakeOnce(int epoch) {
    int last = rung;
    return last != epoch && RUNG.compareAndSet(this, last, epoch);
  }

  /**
   * Asks for a wake-up when the head or the delivered position changes. Call before waiting, and
   * again after each wake-up. The caller must look once more after this and before it sleeps.
   */
  public synchronized void want() {
    RingLayout.asleepRelease(ring, RingLayout.WANTED); // in a new epoch, also if it wanted before
    if (!beforeDrained()) {
      before.want();
    }
    SleepWord.publishBeforeLook();
  }

  /** Call when no thread waits any more. */
  public synchronized void wantNoMore() {
    RingLayout.awakeRelease(ring, RingLayout.WANTED);
    if (!beforeDrained()) {
      before.wantNoMore();
    }
  }

  /** The position up to which the other side has handed everything to its program. */
  public long delivered() {
    long here =
        (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.DELIVERED)
            & RingLayout.POSITION_MASK;
    if (before == null) {
      return here;
    }
    // The consumer publishes in the old ring until it has moved on to this one. So read both, the
    // old one second, and return the position that is further.
    long there = before.delivered();
    return RingLayout.distance(here, there) <= RingLayout.POSITION_MASK >>> 1 ? there : here;
  }

  /** Whether the ring that this one continues is empty; true if there is none. */
  public boolean beforeDrained() {
    return before == null || before.drained();
  }

  /** The position after the last claim. */
  public long claimed() {
    return RingLayout.position(word);
  }

  /** Whether all claims have been consumed. */
  public boolean drained() {
    return RingLayout.position(look()) == RingLayout.position(word);
  }

  /** Bytes claimed and not consumed, including those in the ring that this one continues. */
  public long unconsumedBytes() {
    return ownBytes() + (before == null ? 0 : before.unconsumedBytes());
  }

  private long ownBytes() {
    return RingLayout.distance(RingLayout.position(look()), RingLayout.position(word))
        << RingLayout.UNIT_SHIFT;
  }

  /** The number of claims whose marks are in use, pads included. */
  int openClaims() {
    return RingLayout.claims(word) - RingLayout.claims(look()) & RingLayout.CLAIM_MASK;
  }

  /** Whether a claim of this many bytes would find room at any position; considers marks, too. */
  public boolean hasRoom(long bytes) {
    return ownBytes() + 2 * bytes <= capacity && openClaims() + 2 <= markCount;
  }

  /** Seals the ring: no more claims, and no ring continues it. */
  public void seal() {
    long end = close();
    if (end != 0) {
      RingLayout.LONG.setRelease(ring, (long) RingLayout.END, end);
    }
  }

  /** Refuses claims from now on. Returns the end word, or 0 if the ring was already sealed. */
  private long close() {
    long now;
    do {
      now = word;
      if (now < 0) {
        return 0;
      }
    } while (!WORD.compareAndSet(this, now, now | RingLayout.SEALED));
    return (now & ~(long) RingLayout.CLAIM_MASK) | RingLayout.SEALED;
  }

  /**
   * Seals this ring, and continues it in another one. The caller must prevent a concurrent {@link
   * #seal}, and must call {@link #mustWake} afterwards.
   *
   * @param next memory of a ring, all zeros
   * @param nextCapacity its bytes of data
   * @return the producer of the next ring
   */
  public RingProducer continueIn(MemorySegment next, int nextCapacity) {
    long end = close();
    long position = RingLayout.position(end);
    MemorySegment checked = RingLayout.checked(next, nextCapacity);
    RingLayout.LONG.setRelease(checked, (long) RingLayout.HEAD, RingLayout.word(position, 0));
    RingLayout.LONG.setRelease(checked, (long) RingLayout.DELIVERED, delivered());
    RingProducer after = new RingProducer(checked, nextCapacity, this);
    RingLayout.LONG.setRelease(ring, (long) RingLayout.END, end | RingLayout.GOES_ON);
    return after;
  }

  /** Whether the ring is sealed. */
  public boolean sealed() {
    return word < 0;
  }

  /** For a sealed ring: whether every claim has its mark, so that no thread writes any more. */
  public boolean quiet() {
    return ownQuiet() && (before == null || before.quiet());
  }

  private boolean ownQuiet() {
    long now = word;
    long freed = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD);
    int open = RingLayout.claims(now) - RingLayout.claims(freed) & RingLayout.CLAIM_MASK;
    for (int i = 1; i <= Math.min(open, markCount); i++) {
      int number = RingLayout.claims(now) - i & RingLayout.CLAIM_MASK;
      int mark =
          (int)
              RingLayout.INT.getAcquire(
                  ring, RingLayout.MARKS + (long) (number & markCount - 1) * Integer.BYTES);
      if ((mark & RingLayout.LAP) != RingLayout.lap(number, markCount)
          || (mark & RingLayout.UNITS_MASK) == 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    long freed = (long) RingLayout.LONG.getOpaque(ring, (long) RingLayout.HEAD);
    return "ring of "
        + capacity
        + " bytes, claimed "
        + Long.toHexString(word)
        + ", head "
        + Long.toHexString(freed)
        + ", sleep "
        + (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP)
        + ", rung "
        + rung
        + ", wanted "
        + (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.WANTED);
  }
}
