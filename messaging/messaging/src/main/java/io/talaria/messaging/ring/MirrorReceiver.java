// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntConsumer;

/**
 * Receives records from a mirror: the copy, at the receiving end of a stream, of a ring at the
 * sending end, with the same capacity and the same positions. One thread at a time copies bytes
 * from the stream into the mirror; one other thread removes records.
 *
 * <p>A transport may also lend records: they stay in the buffer into which they were received, in
 * the place of a part of the mirror, until they are removed.
 *
 * <pre>
 *   position            written
 *   ┃ lent ┃ lent ┃ copied ┃          lent ones come first, until all that was copied is removed
 * </pre>
 */
public final class MirrorReceiver extends RingReceiver {
  private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT;

  /** The maximum number of buffers that are lent at a time; a power of two. */
  public static final int MAX_LENT = 8;

  /** Gets buffers back. */
  public interface Lender {
    /** All records of a buffer were removed. The thread that removes records. */
    void returned(int buffer);
  }

  /** The records of a buffer, in the place of a part of the mirror. */
  private static final class Loan {
    MemorySegment memory;
    long offset;
    int buffer;
    long start;
    int units;
    int skippedUnits;
  }

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

  // Only for the thread that removes records.
  private final Loan[] loans = new Loan[MAX_LENT];
  private Lender lender;
  private int firstLoan;
  private int lent;

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

  /**
   * Like copying bytes to {@link #writeOffset} and {@link #wrote}, but leaves them where they are.
   * By the thread that removes records, while no other one copies.
   *
   * @param to gets the buffer back
   * @param buffer its number
   * @param from the memory of the buffer
   * @param offset of the first record there
   * @param bytes of records, more than 0
   * @param skipped bytes of the pads after them
   * @return false if something that was copied comes first, or too many are lent: copy these, too
   */
  public boolean lend(
      Lender to, int buffer, MemorySegment from, long offset, int bytes, int skipped) {
    if (lent == MAX_LENT || endOfLoans() != written) {
      return false;
    }
    int at = firstLoan + lent & MAX_LENT - 1;
    if (loans[at] == null) {
      loans[at] = new Loan();
    }
    Loan loan = loans[at];
    loan.memory = from;
    loan.offset = offset;
    loan.buffer = buffer;
    loan.start = written;
    loan.units = bytes >>> RingLayout.UNIT_SHIFT;
    loan.skippedUnits = skipped >>> RingLayout.UNIT_SHIFT;
    lender = to;
    lent++;
    written = written + loan.units + loan.skippedUnits & RingLayout.POSITION_MASK;
    return true;
  }

  /** The position up to which all unread records are lent. */
  private long endOfLoans() {
    if (lent == 0) {
      return position;
    }
    Loan last = loans[firstLoan + lent - 1 & MAX_LENT - 1];
    return last.start + last.units + last.skippedUnits & RingLayout.POSITION_MASK;
  }

  /**
   * Gives all lent buffers back; nothing is removed after that. By a thread that comes after the
   * one that removes records.
   *
   * @param to gets their numbers, in the place of the lender
   */
  public void returnLoans(IntConsumer to) {
    while (lent != 0) {
      to.accept(endLoan());
    }
  }

  private int endLoan() {
    int buffer = loans[firstLoan].buffer;
    firstLoan = firstLoan + 1 & MAX_LENT - 1;
    lent--;
    return buffer;
  }

  /** Records that no more bytes will arrive. */
  public void end() {
    ended = true;
  }

  @Override
  public int peek() {
    if (lent != 0) {
      return peekLent();
    }
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

  private int peekLent() {
    Loan loan = loans[firstLoan];
    long ready = loan.units - RingLayout.distance(loan.start, position);
    int length = loan.memory.get(LENGTH, offset());
    long bytes = (length + (long) RingLayout.UNIT - 1) & -RingLayout.UNIT;
    if (bytes < RingLayout.UNIT || bytes >>> RingLayout.UNIT_SHIFT > ready) {
      throw new RingBrokenException(
          "record of " + length + " bytes at position " + position + ", " + ready + " units came");
    }
    units = (int) (bytes >>> RingLayout.UNIT_SHIFT);
    return (int) bytes;
  }

  @Override
  public long offset() {
    if (lent != 0) {
      Loan loan = loans[firstLoan];
      return loan.offset + (RingLayout.distance(loan.start, position) << RingLayout.UNIT_SHIFT);
    }
    return (position & capacityUnits - 1) << RingLayout.UNIT_SHIFT;
  }

  @Override
  public MemorySegment memory() {
    return lent != 0 ? loans[firstLoan].memory : memory;
  }

  @Override
  public void advance() {
    position = position + units & RingLayout.POSITION_MASK;
    units = 0;
    if (lent == 0) {
      return;
    }
    Loan loan = loans[firstLoan];
    if (RingLayout.distance(loan.start, position) == loan.units) {
      position = position + loan.skippedUnits & RingLayout.POSITION_MASK;
      lender.returned(endLoan());
    }
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
