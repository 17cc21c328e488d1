// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import io.talaria.nio.memory.SleepWord;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Describes the memory of one ring. The brackets name the one writer of each word. Words are in
 * native byte order, lengths in little-endian.
 *
 * <pre>
 *       0  head 8      [consumer]   position up to which all is free again
 *       8  delivered 8 [consumer]   position up to which all was handed to the receiving program
 *     128  sleep 4     [consumer]   epoch; odd: it sleeps, and the next producer to commit must wake it
 *     256  wanted 4    [producers]  epoch; odd: one of them sleeps until head or delivered changes
 *     384  end 8       [producers]  0, or sealed 1 | position 43 | 20: the ring ends at that position;
 *                                   the last 20 bits: 0, or 1 if another ring continues there
 *     512  data        [producers]  capacity bytes
 *
 *   head, end  sealed 1 | position in units of 8 bytes 43 | 20 bits
 *   record     length 4 | anything, up to a multiple of 8     length in bytes, with these 4, written last
 *   pad        length 4 | not read                            minus the length, a multiple of 8
 * </pre>
 *
 * <p>Where the consumer looks for the length of the next record, there is 0 until that is written:
 * producers clear free memory before it is claimed. So a record of a few bytes is in one cache line
 * with its length, and the line is already the producer's when it writes.
 *
 * <p>{@link SleepWord} proves that no wake-up is lost, of two words. <i>sleep</i>: a producer
 * commits, then looks at it; the consumer sets it, then looks at the next length. <i>wanted</i>:
 * the consumer moves <i>head</i>, then looks at it; a producer sets it, then looks at <i>head</i>.
 * The waker of <i>sleep</i>, one of several producers, claims the epoch before the doorbell; that
 * of <i>wanted</i> is the only one.
 */
public final class RingLayout {
  /** The smallest capacity of a ring, in bytes of data. */
  public static final int MIN_CAPACITY = 16 << 10;

  /** The largest capacity of a ring, in bytes of data. */
  public static final int MAX_CAPACITY = 16 << 20;

  /** The size of every claim is a multiple of this many bytes. */
  public static final int UNIT = 8;

  static final int UNIT_SHIFT = 3;
  static final int HEAD = 0;
  static final int DELIVERED = 8;
  static final int SLEEP = 128;
  static final int WANTED = 256;
  static final int END = 384;
  static final int DATA = 512;

  static final int POSITION_SHIFT = 20;
  static final int POSITION_BITS = 43;
  static final long POSITION_MASK = (1L << POSITION_BITS) - 1;
  static final int REST_MASK = (1 << POSITION_SHIFT) - 1;
  static final long SEALED = Long.MIN_VALUE;
  static final int GOES_ON = 1;

  static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
  static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  /** Of a record's length. */
  static final VarHandle LENGTH =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private RingLayout() {}

  /** The bytes of memory that a ring of this capacity takes. */
  public static int bytes(int capacity) {
    return DATA + capacity;
  }

  /** Whether a ring may have this capacity: a power of two within the limits. */
  public static boolean allowed(int capacity) {
    return capacity >= MIN_CAPACITY && capacity <= MAX_CAPACITY && Integer.bitCount(capacity) == 1;
  }

  /** The part of a ring's memory that holds its data. */
  public static MemorySegment data(MemorySegment ring, int capacity) {
    return ring.asSlice(DATA, capacity);
  }

  static long position(long word) {
    return word >>> POSITION_SHIFT & POSITION_MASK;
  }

  /** The bits of a word that are no position. */
  static int rest(long word) {
    return (int) word & REST_MASK;
  }

  static long word(long position) {
    return (position & POSITION_MASK) << POSITION_SHIFT;
  }

  /** The units of a record or pad with this length word; more than any ring has if it is wrong. */
  static long units(int length) {
    return (Math.abs((long) length) + UNIT - 1) >>> UNIT_SHIFT;
  }

  /** Begins a sleep in an epoch word that this side writes. The caller executes the fence. */
  static void asleepRelease(MemorySegment ring, long word) {
    INT.setRelease(ring, word, SleepWord.asleepAfter((int) INT.getOpaque(ring, word)));
  }

  /** Ends it; does nothing if this side is awake. */
  static void awakeRelease(MemorySegment ring, long word) {
    int epoch = (int) INT.getOpaque(ring, word);
    if (SleepWord.asleep(epoch)) {
      INT.setRelease(ring, word, SleepWord.awakeAfter(epoch));
    }
  }

  /** The distance from one position forward to another, in units. */
  public static long distance(long from, long to) {
    return to - from & POSITION_MASK;
  }

  static MemorySegment checked(MemorySegment ring, int capacity) {
    if (!allowed(capacity)) {
      throw new IllegalArgumentException(
          "a ring of "
              + capacity
              + " bytes, it must be a power of two from "
              + MIN_CAPACITY
              + " to "
              + MAX_CAPACITY);
    }
    if (ring.byteSize() != bytes(capacity)) {
      throw new IllegalArgumentException(
          "memory of " + ring.byteSize() + " bytes, not " + bytes(capacity));
    }
    return ring;
  }
}
