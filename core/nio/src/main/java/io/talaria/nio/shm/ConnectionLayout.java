// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.memory.Faults;
import io.talaria.nio.transport.TransportStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The control page of one connection, which holds two inline rings. Side 0 connected, side 1
 * accepted. All words are 8 bytes in native byte order; both sides run on one machine.
 *
 * <pre>
 *      0  +--------------------------------------+
 *         | MAGIC | RING_BYTES | GENERATION      |  written before it is offered
 *     64  | PHASE                                |  by CAS
 *  sides  +--------------------------------------+  at 128 + 128 * (slot modulo 8)
 *         | side 0: written by side 0 only       |
 *         |   +0   TAIL OUT_END MOVE_GENERATION  |  what the peer's reader looks at
 *         |        SPACE_WAIT                    |
 *         | +128   HEAD                          |
 *         | +192   MOVE_TO[8]                    |
 *         | +256   DATA_WAIT IN_CLOSED READY_SET      |  what the peer's writer looks at
 *         | +384   ACCEPTS SWITCH_AT IN_SWITCHED |
 *         |        RING_READY MOVE_AT[8]         |
 *         |        IN_MOVES IN_BUFFER IN_TAKEN   |
 *   +512  +--------------------------------------+
 *         | side 1: the same                     |
 *   2048  +--------------------------------------+
 *         | inline ring written by side 0 (1024) |
 *   3072  +--------------------------------------+
 *         | inline ring written by side 1 (1024) |
 *   4096  +--------------------------------------+
 * </pre>
 *
 * <p>Positions count bytes, from a start that depends on the slot, and never wrap; a byte at
 * position p is at p modulo the size of the ring in use. The sides' place in the page and the start
 * differ from slot to slot because words at equal places of many pages share few sets of a cache: a
 * selector over a thousand connections would miss it at every word. For the same reason a direction
 * begins in its inline ring: as long as little is under way, a connection is one page to look up.
 *
 * <p>A wait word is {@code epoch << 14 | doorbell << 3 | flags}, or 0 if no thread waits; a new
 * wait has a new epoch, and {@link io.talaria.nio.memory.SleepWord} proves that no wake-up is lost.
 * The doorbell is 0 for the control connection, or one more than the number of the doorbell on
 * which a thread sleeps.
 *
 * <p>A writer that finds too little room moves to another ring: one of a slab ({@link SlabLayout}),
 * or one in a file of its own. It publishes the position from which it writes there in MOVE_AT and
 * the ring in MOVE_TO, then the count of moves in MOVE_GENERATION, then the next TAIL. The word of
 * a move is used again {@link #MOVES} moves later, and not before the reader has said in IN_MOVES
 * that it has followed.
 */
final class ConnectionLayout {
  static final long MAGIC = 0x5441_4c41_5249_4103L; // "TALARIA", version 3

  static final int MAGIC_OFFSET = 0;
  static final int RING_BYTES_OFFSET = 8;
  static final int GENERATION_OFFSET = 16;
  static final int PHASE_OFFSET = 64;
  static final int INLINE_RINGS_OFFSET = 2048;
  static final int INLINE_RING_BYTES = 1024;
  static final int CONTROL_BYTES = 4096;

  static final long PHASE_NEGOTIATING = 0;
  static final long PHASE_ESTABLISHED = 1;
  static final long PHASE_WITHDRAWN = 2;

  static final int TAIL = 0;
  static final int OUT_END = 8;
  static final int MOVE_GENERATION = 16;
  static final int SPACE_WAIT = 24;
  static final int HEAD = 128;
  static final int MOVE_TO = 192;
  static final int DATA_WAIT = 256;
  static final int IN_CLOSED = 264;
  static final int READY_SET = 272;
  static final int ACCEPTS = 384;
  static final int SWITCH_AT = 392;
  static final int IN_SWITCHED = 400;
  static final int RING_READY = 408;
  static final int MOVE_AT = 416;
  static final int IN_MOVES = 480;
  static final int IN_BUFFER = 488;
  static final int IN_TAKEN = 496;

  /** Words of MOVE_AT and MOVE_TO: how many moves a writer may be ahead of its reader. */
  static final int MOVES = 8;

  /** Kinds of rings in MOVE_TO, below the number: a ring of a slab, or one in a file. */
  static final long RING_INLINE = 0;

  static final long RING_OF_SLAB = 1;
  static final long RING_OF_FILE = 2;
  static final int RING_KIND_BITS = 2;

  /** Values of OUT_END. */
  static final long OUT_OPEN = 0;

  static final long OUT_FINISHED = 1;
  static final long OUT_ABORTED = 2;

  /** Values of IN_CLOSED, beside 0: this side reads no more; at a close with bytes unread. */
  static final long IN_CLOSED_READ = 1;

  static final long IN_LEFT_UNREAD = 2;

  /** Flags of a wait word. */
  static final long WAIT_HINT = 1;

  static final long WAIT_DOORBELL = 2;

  /** With WAIT_HINT: a hint for each message, not only for the next. */
  static final long WAIT_EVERY = 4;

  static final int WAIT_FLAG_BITS = 3;
  static final int WAIT_DOORBELL_BITS = 11;

  private static final int MAX_TRIES = 1000;

  private static final int SIDES_OFFSET = 128;
  private static final int SIDE_BYTES = 512;

  /** Places of the sides in the page, and how far apart: a pair of cache lines. */
  static final int PLACES = 8;

  private static final int PLACE_BYTES = 128;

  /** Start positions: an odd number of cache lines apart, all within a page. */
  private static final int START_BYTES = 5 * 64;

  private static final int PAGE_BYTES = 4096;

  private static final byte[] ZEROS = new byte[CONTROL_BYTES];

  /** Limits of the size of a ring outside the page. */
  static final int MIN_RING_BYTES = 4096;

  static final int MAX_RING_BYTES = 1 << 28;

  static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder())
          .withInvokeExactBehavior();

  private ConnectionLayout() {}

  /** Offset of the block that a side writes. */
  static int side(int side, int slot) {
    return SIDES_OFFSET + slot % PLACES * PLACE_BYTES + side * SIDE_BYTES;
  }

  /** Offset of the inline ring that a side writes. */
  static int inlineRing(int writerSide) {
    return INLINE_RINGS_OFFSET + writerSide * INLINE_RING_BYTES;
  }

  /** The first byte's position, in both directions. */
  static long start(int slot) {
    return (long) slot * START_BYTES % PAGE_BYTES;
  }

  /** Offset, in a side's block, of the position at which it made a move; the first is number 0. */
  static int moveAt(long move) {
    return MOVE_AT + (int) (move & (MOVES - 1)) * Long.BYTES;
  }

  /** Offset, in a side's block, of the word that says where to it made a move. */
  static int moveTo(long move) {
    return MOVE_TO + (int) (move & (MOVES - 1)) * Long.BYTES;
  }

  /** What stands in that word. */
  static long ring(long kind, long number) {
    return (number << RING_KIND_BITS) | kind;
  }

  static boolean validRing(long bytes) {
    return bytes >= MIN_RING_BYTES && bytes <= MAX_RING_BYTES && Long.bitCount(bytes) == 1;
  }

  /**
   * A wait word.
   *
   * @param doorbell number of a doorbell of this process's threads, or {@link
   *     TransportStream#NO_DOORBELL}
   */
  static long waitWord(long epoch, int doorbell, long flags) {
    return (epoch << WAIT_DOORBELL_BITS | doorbell + 1) << WAIT_FLAG_BITS | flags;
  }

  /** Number of the doorbell of a wait word, which may be any below 2047, or NO_DOORBELL. */
  static int doorbell(long wait) {
    return ((int) (wait >>> WAIT_FLAG_BITS) & (1 << WAIT_DOORBELL_BITS) - 1) - 1;
  }

  static long getAcquire(ByteBuffer control, int offset) {
    return (long) LONG.getAcquire(control, offset);
  }

  static void setRelease(ByteBuffer control, int offset, long value) {
    LONG.setRelease(control, offset, value);
  }

  static long getOpaque(ByteBuffer control, int offset) {
    return (long) LONG.getOpaque(control, offset);
  }

  static void setOpaque(ByteBuffer control, int offset, long value) {
    LONG.setOpaque(control, offset, value);
  }

  static long compareAndExchangeVolatile(
      ByteBuffer control, int offset, long expected, long value) {
    return (long) LONG.compareAndExchange(control, offset, expected, value);
  }

  /** Sets bits of a word that others change as well: see {@link Faults}. */
  static void setBitsVolatile(ByteBuffer memory, int offset, long bits) {
    long seen = getAcquire(memory, offset);
    Faults.pollYoung();
    for (int tries = 1; !LONG.compareAndSet(memory, offset, seen, seen | bits); tries++) {
      breathe(tries);
      seen = getAcquire(memory, offset);
    }
  }

  /** Clears bits of a word that others change as well, and returns those that were set. */
  static long takeBitsVolatile(ByteBuffer memory, int offset, long bits) {
    long seen = getAcquire(memory, offset);
    Faults.pollYoung();
    for (int tries = 1; !LONG.compareAndSet(memory, offset, seen, seen & ~bits); tries++) {
      breathe(tries);
      seen = getAcquire(memory, offset);
    }
    return seen & bits;
  }

  /** No word is contended for so long: its memory may be gone. */
  private static void breathe(int tries) {
    if (tries % MAX_TRIES == 0) {
      Faults.take();
    }
  }

  /**
   * Makes the control page ready for a new connection. No other thread or process may be using it.
   */
  static void reset(ByteBuffer control, int slot, int generation, int ringBytes) {
    control.put(0, ZEROS); // in one call: a process that sets up thousands is mostly interpreted
    for (int side = 0; side < 2; side++) {
      LONG.set(control, side(side, slot) + TAIL, start(slot));
      LONG.set(control, side(side, slot) + HEAD, start(slot));
    }
    LONG.set(control, RING_BYTES_OFFSET, (long) ringBytes);
    LONG.set(control, GENERATION_OFFSET, (long) generation);
    LONG.setRelease(control, MAGIC_OFFSET, MAGIC);
  }

  /** Whether a control page has been made ready for the connection that a peer speaks of. */
  static boolean ready(ByteBuffer control, int generation, int ringBytes) {
    return getAcquire(control, MAGIC_OFFSET) == MAGIC
        && getAcquire(control, RING_BYTES_OFFSET) == ringBytes
        && getAcquire(control, GENERATION_OFFSET) == generation;
  }
}
