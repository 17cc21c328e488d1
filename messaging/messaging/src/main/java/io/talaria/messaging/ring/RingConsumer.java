// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import io.talaria.nio.memory.SleepWord;
import java.lang.foreign.MemorySegment;

/** Removes records from a ring. One thread at a time. */
public final class RingConsumer extends RingReceiver {
  private final MemorySegment ring;
  private final int capacityUnits;

  /** Never read back from shared memory, where the other process could change it. */
  private long position;

  private long published;
  private int units;
  private int heardWanted;

  /**
   * Creates the consumer of a ring.
   *
   * @param ring the ring's memory
   * @param capacity bytes of data
   */
  public RingConsumer(MemorySegment ring, int capacity) {
    this.ring = RingLayout.checked(ring, capacity);
    capacityUnits = capacity >>> RingLayout.UNIT_SHIFT;
    long head = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD);
    position = RingLayout.position(head);
    published = position;
  }

  @Override
  public int peek() {
    int found = peekWithPads();
    while (found < 0) {
      advance();
      found = peekWithPads();
    }
    return found;
  }

  /**
   * Like {@link #peek}, but does not skip pads.
   *
   * @return the bytes of a record, or those of a pad, negated; 0 if there is none now
   */
  public int peekWithPads() {
    int length = (int) RingLayout.LENGTH.getAcquire(ring, offset());
    if (length == 0) {
      return 0;
    }
    int at = (int) position & capacityUnits - 1;
    long found = RingLayout.units(length);
    if (found > capacityUnits - at) {
      throw new RingBrokenException(
          "length "
              + Integer.toHexString(length)
              + " at unit "
              + at
              + " reaches over the end, "
              + capacityUnits);
    }
    units = (int) found;
    int bytes = units << RingLayout.UNIT_SHIFT;
    return length > 0 ? bytes : -bytes;
  }

  /**
   * Whether {@link #peek} may find a record. Any thread: one that does not use this object
   * otherwise may see a position that was passed already, and learns of a record later.
   */
  public boolean mayHave() {
    return (int) RingLayout.LENGTH.getAcquire(ring, offset()) != 0;
  }

  @Override
  public long offset() {
    return RingLayout.DATA + ((position & capacityUnits - 1) << RingLayout.UNIT_SHIFT);
  }

  @Override
  public MemorySegment memory() {
    return ring;
  }

  @Override
  public void advance() {
    position = position + units & RingLayout.POSITION_MASK;
    units = 0;
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public void publish() {
    if (published != position) {
      published = position;
      RingLayout.LONG.setRelease(ring, (long) RingLayout.HEAD, RingLayout.word(position));
    }
  }

  /**
   * The position after the last record that {@link #advance} has passed, as an argument for {@link
   * #publish(long)}.
   */
  public long word() {
    return RingLayout.word(position);
  }

  /**
   * Publishes that everything before a {@link #word} is free again. Words must be passed in the
   * order in which they were obtained.
   */
  public void publish(long word) {
    published = RingLayout.position(word);
    RingLayout.LONG.setRelease(ring, (long) RingLayout.HEAD, word);
  }

  @Override
  public long unpublishedBytes() {
    return RingLayout.distance(published, position) << RingLayout.UNIT_SHIFT;
  }

  @Override
  public void publishDelivered(long delivered) {
    RingLayout.LONG.setRelease(ring, (long) RingLayout.DELIVERED, delivered);
  }

  @Override
  public long delivered() {
    return (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.DELIVERED);
  }

  /**
   * Call after publishing. Returns true if a producer waits for it and the caller must wake it;
   * only once for each wait.
   */
  public boolean mustWake() {
    SleepWord.publishBeforeLook();
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.WANTED);
    if (epoch == heardWanted) {
      return false;
    }
    heardWanted = epoch;
    return SleepWord.asleep(epoch);
  }

  /**
   * Publishes that the consumer is about to sleep. The caller must call {@link #peek} once more
   * after this and before it sleeps.
   */
  public void arm() {
    RingLayout.asleepRelease(ring, RingLayout.SLEEP);
    SleepWord.publishBeforeLook();
  }

  /** Publishes that the consumer is awake. */
  public void disarm() {
    RingLayout.awakeRelease(ring, RingLayout.SLEEP);
  }

  @Override
  public boolean ended() {
    return atEnd(0);
  }

  /** Whether all records have been removed, and another ring continues this one. */
  public boolean goesOn() {
    return atEnd(RingLayout.GOES_ON);
  }

  private boolean atEnd(int how) {
    long end = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.END);
    return end < 0 && RingLayout.rest(end) == how && RingLayout.position(end) == position;
  }

  /**
   * Call after {@link #goesOn}. Publishes in this ring that it is empty, and in the next one the
   * delivered position.
   *
   * @return the consumer of the next ring
   * @throws RingBrokenException if the next ring does not begin where this one ends
   */
  public RingConsumer continueIn(MemorySegment next, int nextCapacity) {
    publish();
    if (nextCapacity == 0) {
      throw new RingBrokenException("a ring follows the largest one");
    }
    RingConsumer after = new RingConsumer(next, nextCapacity);
    if (after.position != position) {
      throw new RingBrokenException(
          "a ring begins at " + after.position + ", the one before ends at " + position);
    }
    after.publishDelivered(delivered());
    return after;
  }

  @Override
  public String toString() {
    return "position "
        + Long.toHexString(position)
        + ", published "
        + Long.toHexString(published)
        + ", sleep "
        + (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP)
        + ", wanted "
        + (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.WANTED)
        + ", heard "
        + heardWanted;
  }
}
