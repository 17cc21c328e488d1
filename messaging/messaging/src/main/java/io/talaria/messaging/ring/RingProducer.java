// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import io.talaria.nio.memory.SleepWord;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Writes records into a ring. Any number of threads. One class, because its methods read and move
 * the same words, in an order that a model in the tests checks.
 *
 * <p>After a claim the caller must always call {@link #commit} or {@link #abort}, even if writing
 * fails, because the consumer cannot pass an open claim. No call allocates, and none waits but
 * {@link #tryClaim} while another thread clears memory.
 */
public final class RingProducer {
  /** Result of {@link #tryClaim}: there is no room until the consumer has removed something. */
  public static final long BACK_PRESSURED = -1;

  /** Result of {@link #tryClaim}: the ring is sealed and will never accept a claim again. */
  public static final long SEALED = -2;

  private static final VarHandle WORD;
  private static final VarHandle RUNG;
  private static final VarHandle CLEARING;

  /** How much is cleared at a time: enough that many claims share the cost, and fits a cache. */
  private static final int CLEAR_UNITS = 4096 >>> RingLayout.UNIT_SHIFT;

  /** A claim above this is not cleared itself, only what comes after it. */
  private static final int MAX_CLEARED_UNITS = 512 >>> RingLayout.UNIT_SHIFT;

  /** How much is cleared after such a claim. */
  private static final int AFTER_LARGE_UNITS = 512 >>> RingLayout.UNIT_SHIFT;

  private static final int LOOKS_BEFORE_YIELD = 100;

  /** So often the head may change under a look that finds it impossible. */
  private static final int MAX_LOOKS = 100;

  // Results of clear().
  private static final int CLEARED = 0;
  private static final int CLAIMED = 1;
  private static final int NO_ROOM = 2;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      WORD = lookup.findVarHandle(RingProducer.class, "word", long.class);
      RUNG = lookup.findVarHandle(RingProducer.class, "rung", int.class);
      CLEARING = lookup.findVarHandle(RingProducer.class, "clearing", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final MemorySegment ring;
  private final int capacity;
  private final int capacityUnits;

  /** The ring that this one continues, or null. */
  private final RingProducer before;

  /** Position of the next claim. Changed only by compare-and-set. */
  private volatile long word;

  /**
   * Position before which all free memory that is not claimed is zeros. Never beyond what the
   * consumer has freed. Changed by who has {@link #clearing}.
   */
  private volatile long clean;

  /** 1 while a thread clears memory. Changed by compare-and-set. */
  @SuppressWarnings("UnusedVariable") // read by the compare-and-set
  private volatile int clearing;

  /** The sleep epoch in which the consumer was last woken. Changed only by compare-and-set. */
  private volatile int rung;

  /**
   * Creates the producer of a ring.
   *
   * @param ring the ring's memory, all zeros, but for words of {@link RingLayout} that contain a
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
    capacityUnits = capacity >>> RingLayout.UNIT_SHIFT;
    word = head();
    clean = RingLayout.position(word) + capacityUnits & RingLayout.POSITION_MASK;
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
   * Claims room. Waits only while another thread clears memory for its claim.
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
      int left = capacityUnits - ((int) position & capacityUnits - 1);
      int filler = left < units ? left : 0;
      boolean claimed = false;
      // The length of the next record must be 0, too.
      if (filler + units + 1 > cleanUnits(position)) {
        int done = clear(now, filler, units);
        if (done == NO_ROOM && word == now) {
          return BACK_PRESSURED;
        }
        claimed = done == CLAIMED;
        if (!claimed) {
          continue;
        }
      }
      if (claimed || claim(now, filler + units)) {
        if (filler == 0) {
          return now;
        }
        pad(now, filler);
        return RingLayout.word(position + filler);
      }
      Thread.onSpinWait();
    }
  }

  private boolean claim(long now, int units) {
    return WORD.compareAndSet(this, now, RingLayout.word(RingLayout.position(now) + units));
  }

  /** How many units from a position on are zeros. */
  private long cleanUnits(long position) {
    long units = RingLayout.distance(position, clean);
    return units > capacityUnits ? 0 : units; // after a large claim clean is behind for a moment
  }

  /**
   * Clears memory for a claim; for a large one the memory after it, and claims it.
   *
   * <p>Invariant: no thread clears what may be claimed or is not free. One thread clears at a time.
   * Others claim only before {@link #clean}, which it moves last, and it clears only from there on,
   * up to what the consumer has freed. A large claim goes beyond {@link #clean}: if that succeeds,
   * nobody else can claim until it is moved; if not, what was cleared is still free.
   */
  private int clear(long now, int filler, int units) {
    for (int i = 0; !CLEARING.compareAndSet(this, 0, 1); i++) {
      if (i < LOOKS_BEFORE_YIELD) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
    try {
      if (word != now) {
        return CLEARED; // for another position: look again
      }
      long position = RingLayout.position(now);
      long freeUnits = capacityUnits - RingLayout.distance(RingLayout.position(look()), position);
      int all = filler + units;
      if (all + 1 > freeUnits) {
        return NO_ROOM;
      }
      long cleanUnits = cleanUnits(position);
      if (all + 1 <= cleanUnits) {
        return CLEARED;
      }
      if (units <= MAX_CLEARED_UNITS) {
        long more = Math.min(freeUnits, cleanUnits + CLEAR_UNITS);
        zeros(position + cleanUnits, more - cleanUnits);
        clean = position + more & RingLayout.POSITION_MASK;
        return CLEARED;
      }
      if (filler >= cleanUnits) {
        zeros(position + filler, 1);
      }
      long from = Math.max(all, cleanUnits);
      long to = Math.min(freeUnits, from + AFTER_LARGE_UNITS);
      zeros(position + from, to - from);
      if (!claim(now, all)) {
        return CLEARED;
      }
      clean = position + to & RingLayout.POSITION_MASK;
      return CLAIMED;
    } finally {
      clearing = 0;
    }
  }

  private void zeros(long position, long units) {
    int at = (int) position & capacityUnits - 1;
    int first = (int) Math.min(units, capacityUnits - at);
    fill(at, first);
    fill(0, (int) units - first);
  }

  private void fill(int unit, int units) {
    long at = RingLayout.DATA + ((long) unit << RingLayout.UNIT_SHIFT);
    ring.asSlice(at, (long) units << RingLayout.UNIT_SHIFT).fill((byte) 0);
  }

  /**
   * Reads the head and checks it, because the other process writes it: it cannot be beyond what was
   * claimed, nor more than a ring behind. While this thread has no core between the two reads,
   * others may claim, and the consumer free, more than a ring: so only a head that has not changed
   * meanwhile is impossible.
   */
  private long look() {
    long freed = head();
    for (int i = 0; ; i++) {
      long now = word;
      if (freed >= 0
          && RingLayout.rest(freed) == 0
          && RingLayout.distance(RingLayout.position(freed), RingLayout.position(now))
              <= capacityUnits) {
        return freed;
      }
      long again = head();
      if (again == freed || i == MAX_LOOKS) {
        throw new RingBrokenException(
            "head is "
                + Long.toHexString(freed)
                + ", with "
                + Long.toHexString(now)
                + " claimed in a ring of "
                + capacity
                + " bytes");
      }
      freed = again;
    }
  }

  private long head() {
    return (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD);
  }

  /** The offset of a claim's memory in {@link #memory}. */
  public long offset(long claim) {
    return RingLayout.DATA
        + ((RingLayout.position(claim) & capacityUnits - 1) << RingLayout.UNIT_SHIFT);
  }

  /** The position after a claim of this many bytes. */
  public long endOf(long claim, int bytes) {
    return RingLayout.position(claim) + (bytes >>> RingLayout.UNIT_SHIFT)
        & RingLayout.POSITION_MASK;
  }

  /**
   * Publishes the record that was written into a claim: writes its length, which the caller must
   * leave as it is.
   *
   * @param length bytes of the record with the 4 of its length; up to 7 less than were claimed
   */
  public void commit(long claim, int length) {
    RingLayout.LENGTH.setRelease(ring, offset(claim), length);
  }

  /** Gives up a claim: it becomes a pad, which the consumer skips. */
  public void abort(long claim, int bytes) {
    RingLayout.LENGTH.setRelease(ring, offset(claim), -bytes);
  }

  private void pad(long claim, int units) {
    abort(claim, units << RingLayout.UNIT_SHIFT);
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

  /** The bytes from one position forward to another. */
  public static long bytesBetween(long from, long to) {
    return RingLayout.distance(from, to) << RingLayout.UNIT_SHIFT;
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

  /** Whether a claim of this many bytes would find room at any position. */
  public boolean hasRoom(long bytes) {
    return ownBytes() + 2 * bytes <= capacity;
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
    return now | RingLayout.SEALED;
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
    RingLayout.LONG.setRelease(checked, (long) RingLayout.HEAD, RingLayout.word(position));
    RingLayout.LONG.setRelease(checked, (long) RingLayout.DELIVERED, delivered());
    RingProducer after = new RingProducer(checked, nextCapacity, this);
    RingLayout.LONG.setRelease(ring, (long) RingLayout.END, end | RingLayout.GOES_ON);
    return after;
  }

  /** Whether the ring is sealed. */
  public boolean sealed() {
    return word < 0;
  }

  /**
   * For a sealed ring: whether every claim has its length, so that no thread writes any more. False
   * if the other process has written wrong values, so that this cannot be known.
   */
  public boolean quiet() {
    return ownQuiet() && (before == null || before.quiet());
  }

  private boolean ownQuiet() {
    long end = RingLayout.position(word);
    long position =
        RingLayout.position((long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD));
    if (RingLayout.distance(position, end) > capacityUnits) {
      return false;
    }
    while (position != end) {
      int length = (int) RingLayout.LENGTH.getAcquire(ring, offset(RingLayout.word(position)));
      long units = RingLayout.units(length);
      if (length == 0 || units > RingLayout.distance(position, end)) {
        return false;
      }
      position = position + units & RingLayout.POSITION_MASK;
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
