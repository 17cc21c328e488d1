// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The copy, at the receiving end of a stream, of a ring at the sending end: the same capacity, the
 * same positions, no marks. Whoever reads the stream puts bytes in; one thread takes records out.
 */
public final class MirrorInlet extends Inlet {
  private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT;

  private final MemorySegment memory;
  private final int capacityUnits;

  /** Of whoever reads the stream, under its lock; published for the taker. */
  private volatile long written;

  /** Of the taker. */
  private long position;

  /** Of the taker, published for whoever tells the other end. */
  private volatile long published;

  private volatile long delivered;
  private volatile boolean ended;
  private int units;

  /**
   * Makes a mirror.
   *
   * @param memory as many bytes as the ring at the other end has
   */
  public MirrorInlet(MemorySegment memory) {
    this.memory = memory;
    capacityUnits = (int) (memory.byteSize() >>> RingLayout.UNIT_SHIFT);
  }

  /** Where the next bytes of the stream belong. */
  public int writeOffset() {
    return ((int) written & capacityUnits - 1) << RingLayout.UNIT_SHIFT;
  }

  /**
   * Whether so much may come next: it ends with the memory, and overwrites nothing.
   *
   * @param bytes that come
   * @param skipped bytes of pads behind them, which do not come
   */
  public boolean accepts(int bytes, int skipped) {
    long more = ((long) bytes + skipped) >>> RingLayout.UNIT_SHIFT;
    return bytes >= 0
        && skipped >= 0
        && (bytes & RingLayout.UNIT - 1) == 0
        && (skipped & RingLayout.UNIT - 1) == 0
        && writeOffset() + (long) bytes + skipped <= memory.byteSize()
        && RingLayout.distance(published, written) + more <= capacityUnits;
  }

  /** Shows what was put at {@link #writeOffset}, and skips pads. */
  public void wrote(int bytes, int skipped) {
    // The taker goes from record to record, and the pads have no bytes here: a length says it.
    if (skipped != 0) {
      memory.set(LENGTH, writeOffset() + (long) bytes, -skipped);
    }
    long units = ((long) bytes + skipped) >>> RingLayout.UNIT_SHIFT;
    written = (written + units) & RingLayout.POSITION_MASK;
  }

  /** No more bytes come. */
  public void end() {
    ended = true;
  }

  @Override
  public int peek() {
    for (; ; ) {
      long ready = RingLayout.distance(position, written);
      if (ready == 0) {
        return 0;
      }
      int length = memory.get(LENGTH, offset());
      boolean pad = length < 0;
      long bytes = (Math.abs((long) length) + RingLayout.UNIT - 1) & -RingLayout.UNIT;
      if (bytes < RingLayout.UNIT || bytes >>> RingLayout.UNIT_SHIFT > ready) {
        throw new RingBrokenException(
            "record of "
                + length
                + " bytes at position "
                + position
                + ", "
                + ready
                + " units came");
      }
      units = (int) (bytes >>> RingLayout.UNIT_SHIFT);
      if (!pad) {
        return (int) bytes;
      }
      advance();
    }
  }

  @Override
  public long offset() {
    return (position & capacityUnits - 1) << RingLayout.UNIT_SHIFT;
  }

  @Override
  public MemorySegment memory() {
    return memory;
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
    published = position;
  }

  /** The position up to which there is room again. */
  public long published() {
    return published;
  }

  @Override
  public long unpublishedBytes() {
    return RingLayout.distance(published, position) << RingLayout.UNIT_SHIFT;
  }

  @Override
  public void publishDelivered(long position) {
    delivered = position;
  }

  @Override
  public long delivered() {
    return delivered;
  }

  @Override
  public boolean ended() {
    return ended && position == written;
  }

  @Override
  public String toString() {
    return "position "
        + Long.toHexString(position)
        + ", written "
        + Long.toHexString(written)
        + ", published "
        + Long.toHexString(published);
  }
}
