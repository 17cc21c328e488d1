// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The end of a ring into which any number of threads write.
 *
 * <p>Who has claimed must {@link #commit} or {@link #abandon}, whatever happens. No call waits or
 * allocates.
 */
public final class RingProducer {
  /** Of {@link #tryClaim}: the consumer has to take something first. */
  public static final long BACK_PRESSURED = -1;

  /** Of {@link #tryClaim}: no more, for good. */
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

  /** The one that this one follows, or null. */
  private final RingProducer before;

  /** Changed by compare-and-set alone. */
  private volatile long word;

  /** What was last read of the head; any producer. */
  private volatile long head;

  /** The sleep epoch that the consumer was last woken for; by compare-and-set. */
  private volatile int rung;

  /**
   * Makes the producers' end.
   *
   * @param ring its memory, of which the words of {@link RingLayout} are zero, or as another
   *     position of both ends says
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

  /** Bytes of data. */
  public int capacity() {
    return capacity;
  }

  /** The ring's memory, in which {@link #offset} counts. */
  public MemorySegment memory() {
    return ring;
  }

  /** The most bytes that one claim may have, so that it always finds room in an empty ring. */
  public int maxBytes() {
    return capacity >>> 1;
  }

  /**
   * Claims room.
   *
   * @param bytes at least 8, a multiple of 8, at most {@link #maxBytes}
   * @return a claim, or {@link #BACK_PRESSURED}, or {@link #SEALED}
   * @throws RingBrokenException if the other process has moved the head where it cannot be
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

  /** Reads the head, and checks it: it cannot have passed what is claimed. */
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

  /** Where the memory of a claim begins, from the begin of {@link #memory}. */
  public long offset(long claim) {
    return dataOffset + ((RingLayout.position(claim) & capacityUnits - 1) << RingLayout.UNIT_SHIFT);
  }

  /** The position behind a claim of so many bytes. */
  public long endOf(long claim, int bytes) {
    return RingLayout.position(claim) + (bytes >>> RingLayout.UNIT_SHIFT)
        & RingLayout.POSITION_MASK;
  }

  /** Shows what was written in a claim. */
  public void commit(long claim, int bytes) {
    mark(claim, bytes >>> RingLayout.UNIT_SHIFT);
  }

  /** Gives up a claim: nobody will see it. */
  public void abandon(long claim, int bytes) {
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
   * After a commit: whether the consumer sleeps and is to be woken by the caller. Says so once a
   * sleep, to one thread.
   */
  public boolean mustWake() {
    VarHandle.fullFence();
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP);
    return (epoch & 1) != 0 && wakeOnce(epoch);
  }

  private boolean wakeOnce(int epoch) {
    int last = rung;
    return last != epoch && RUNG.compareAndSet(this, last, epoch);
  }

  /**
   * Before waiting for room or for what was delivered, and again after each time of being woken:
   * asks to be woken. Look once more after it.
   */
  public synchronized void want() {
    nextWanted(1);
    if (!beforeDrained()) {
      before.want();
    }
    VarHandle.fullFence();
  }

  /** When nobody waits any more. */
  public synchronized void wantNoMore() {
    nextWanted(0);
    if (!beforeDrained()) {
      before.wantNoMore();
    }
  }

  /** The consumer says a thing once an epoch, so each waiter makes a new one. */
  private void nextWanted(int odd) {
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.WANTED);
    int next = (epoch & ~1) + 2 | odd;
    RingLayout.INT.setRelease(ring, (long) RingLayout.WANTED, next);
  }

  /** The position up to which the other side has handed everything to its program. */
  public long delivered() {
    long here =
        (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.DELIVERED)
            & RingLayout.POSITION_MASK;
    if (before == null) {
      return here;
    }
    // Told in the old one until the consumer has moved on; and read after the new one.
    long there = before.delivered();
    return RingLayout.distance(here, there) <= RingLayout.POSITION_MASK >>> 1 ? there : here;
  }

  /** Whether the one before, if there is one, is empty. */
  public boolean beforeDrained() {
    return before == null || before.drained();
  }

  /** The position behind the last claim. */
  public long claimed() {
    return RingLayout.position(word);
  }

  /** Whether all that was claimed has been consumed. */
  public boolean drained() {
    return RingLayout.position(look()) == RingLayout.position(word);
  }

  /** Bytes claimed and not consumed, in the one before, too. */
  public long unconsumedBytes() {
    return ownBytes() + (before == null ? 0 : before.unconsumedBytes());
  }

  private long ownBytes() {
    return RingLayout.distance(RingLayout.position(look()), RingLayout.position(word))
        << RingLayout.UNIT_SHIFT;
  }

  /** Claims whose marks are in use, pads included. */
  int openClaims() {
    return RingLayout.claims(word) - RingLayout.claims(look()) & RingLayout.CLAIM_MASK;
  }

  /** Whether a claim of so many bytes would find room, wherever it stands; marks count, too. */
  public boolean hasRoom(long bytes) {
    return ownBytes() + 2 * bytes <= capacity && openClaims() + 2 <= markCount;
  }

  /** Ends the ring: no claims from now on. */
  public void seal() {
    long end = close();
    if (end != 0) {
      RingLayout.LONG.setRelease(ring, (long) RingLayout.END, end);
    }
  }

  /** Refuses claims; the end word, or 0 if that was done before. */
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
   * Ends this ring, and has another one go on where it ends. The caller sees to it that nobody
   * seals it meanwhile; afterwards {@link #mustWake} is to be asked.
   *
   * @param next memory of a ring, zeros
   * @param nextCapacity its bytes of data
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

  /** Whether it is sealed. */
  public boolean sealed() {
    return word < 0;
  }

  /** Of a sealed ring: whether every claim has its mark, so that nobody writes any more. */
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
