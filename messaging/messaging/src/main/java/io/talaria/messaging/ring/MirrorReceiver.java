// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Receives records from a mirror: the copy, at the receiving end of a stream, of a ring at the
 * sending end, with the same capacity and the same positions, but without marks. One thread at a
 * time copies bytes from the stream into the mirror; one other thread removes records.
 */
public final class MirrorReceiver extends RingReceiver {
  private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT;

  private final MemorySegment memory;
  private final int capacityUnits;

  /**
   * Written by the thread that reads the stream, under its lock; read by the thread that removes
   * records.
   */
  private volatile long written;

  /** Only for the thread that removes records. */
  private long position;

  /** Written by the thread that removes records; read by the thread that sends credit. */
  private volatile long published;

  private volatile long delivered;
  private volatile boolean ended;
  private int units;

  /**
   * Creates a mirror.
   *
   * @param memory as many bytes as the ring at the other end has
   */
  public MirrorReceiver(MemorySegment memory) {
    this.memory = memory;
    capacityUnits = (int) (memory.byteSize() >>> RingLayout.UNIT_SHIFT);
  }

  /** The offset in {@link #memory} of the next bytes of the stream. */
  public int writeOffset() {
    return ((int) written & capacityUnits - 1) << RingLayout.UNIT_SHIFT;
  }

  /**
   * Checks a frame before it is copied: it must not cross the end of the memory, nor overwrite
   * unread records.
   *
   * @param bytes of the frame's records
   * @param skipped bytes of the pads after them, which the stream does not carry
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

  /** Publishes bytes that were copied to {@link #writeOffset}, and skips pads. */
  public void wrote(int bytes, int skipped) {
    // The reader goes from length to length. The stream carries no bytes of pads, so a negative
    // length stands for them.
    if (skipped != 0) {
      memory.set(LENGTH, writeOffset() + (long) bytes, -skipped);
    }
    long units = ((long) bytes + skipped) >>> RingLayout.UNIT_SHIFT;
    written = (written + units) & RingLayout.POSITION_MASK;
  }

  /** Records that no more bytes will arrive. */
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

  /** The position up to which the mirror has room again. Any thread. */
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
