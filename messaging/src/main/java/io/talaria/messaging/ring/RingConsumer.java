// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** The end of a ring out of which records are taken. One thread at a time. */
public final class RingConsumer extends Inlet {
  private final MemorySegment ring;
  private final int dataOffset;
  private final int capacityUnits;
  private final int markCount;

  /** Own, never read back from shared memory. */
  private long position;

  private int claims;
  private long published;
  private int units;
  private int heardWanted;

  /**
   * Makes the consumer's end.
   *
   * @param ring its memory
   * @param capacity bytes of data
   */
  public RingConsumer(MemorySegment ring, int capacity) {
    this.ring = RingLayout.checked(ring, capacity);
    dataOffset = RingLayout.dataOffset(capacity);
    capacityUnits = capacity >>> RingLayout.UNIT_SHIFT;
    markCount = RingLayout.markCount(capacity);
    long head = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.HEAD);
    position = RingLayout.position(head);
    claims = RingLayout.claims(head);
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
   * Like {@link #peek}, but shows pads, too.
   *
   * @return the bytes of a record, or those of a pad, negative; 0 if there is none now
   */
  public int peekWithPads() {
    int mark =
        (int)
            RingLayout.INT.getAcquire(
                ring, RingLayout.MARKS + (long) (claims & markCount - 1) * Integer.BYTES);
    int found = mark & RingLayout.UNITS_MASK;
    if ((mark & RingLayout.LAP) != RingLayout.lap(claims, markCount) || found == 0) {
      return 0;
    }
    int at = (int) position & capacityUnits - 1;
    if (found > capacityUnits - at) {
      throw new RingBrokenException(
          "mark "
              + Integer.toHexString(mark)
              + " at unit "
              + at
              + " reaches over the end, "
              + capacityUnits);
    }
    units = found;
    int bytes = found << RingLayout.UNIT_SHIFT;
    return (mark & RingLayout.PAD) == 0 ? bytes : -bytes;
  }

  @Override
  public long offset() {
    return dataOffset + ((position & capacityUnits - 1) << RingLayout.UNIT_SHIFT);
  }

  @Override
  public MemorySegment memory() {
    return ring;
  }

  @Override
  public void advance() {
    position = position + units & RingLayout.POSITION_MASK;
    claims = claims + 1 & RingLayout.CLAIM_MASK;
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
      RingLayout.LONG.setRelease(ring, (long) RingLayout.HEAD, RingLayout.word(position, claims));
    }
  }

  /** What {@link #publish(long)} takes: all that was left behind up to now. */
  public long word() {
    return RingLayout.word(position, claims);
  }

  /**
   * Tells the other side that all is free again that had been left behind when {@link #word} gave
   * this; words are given in their order.
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
   * After publishing: whether somebody waits for that, and is to be woken by the caller. Says so
   * once a wait.
   */
  public boolean mustWake() {
    VarHandle.fullFence();
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.WANTED);
    if (epoch == heardWanted) {
      return false;
    }
    heardWanted = epoch;
    return (epoch & 1) != 0;
  }

  /** Says that the consumer is about to sleep; look at {@link #peek} once more after it. */
  public void arm() {
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP);
    RingLayout.INT.setRelease(ring, (long) RingLayout.SLEEP, epoch + 1 | 1);
    VarHandle.fullFence();
  }

  /** Says that it is awake. */
  public void disarm() {
    int epoch = (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP);
    if ((epoch & 1) != 0) {
      RingLayout.INT.setRelease(ring, (long) RingLayout.SLEEP, epoch + 1);
    }
  }

  @Override
  public boolean ended() {
    return atEnd(0);
  }

  /** Whether all has been left behind, and the next ring goes on. */
  public boolean goesOn() {
    return atEnd(RingLayout.GOES_ON);
  }

  private boolean atEnd(int how) {
    long end = (long) RingLayout.LONG.getAcquire(ring, (long) RingLayout.END);
    return end < 0 && RingLayout.claims(end) == how && RingLayout.position(end) == position;
  }

  /**
   * After {@link #goesOn}: the end of the next ring, and says in this one that it is empty, and in
   * the next one what was said here.
   *
   * @throws RingBrokenException if the next one does not begin where this one ends
   */
  public RingConsumer continueIn(MemorySegment next, int nextCapacity) {
    publish();
    if (nextCapacity == 0) {
      throw new RingBrokenException("a ring follows the largest one");
    }
    RingConsumer after = new RingConsumer(next, nextCapacity);
    if (after.position != position || after.claims != 0) {
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
        + ", claims "
        + claims
        + ", sleep "
        + (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.SLEEP)
        + ", wanted "
        + (int) RingLayout.INT.getOpaque(ring, (long) RingLayout.WANTED)
        + ", heard "
        + heardWanted;
  }
}
