// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory of one connection: a segment of a control page and two rings. Side 0 connected, side 1
 * accepted. All words are 8 bytes in native byte order; both sides run on one machine.
 *
 * <pre>
 *      0  +--------------------------------------+
 *         | MAGIC | RING_BYTES | PHASE           |  written before it is offered; PHASE by CAS
 *   1024  +--------------------------------------+
 *         | side 0: written by side 0 only       |
 *         |   +0   TAIL        bytes written     |
 *         | +128   HEAD        bytes read        |
 *         | +256   DATA_WAIT   reader's word     |
 *         | +384   SPACE_WAIT  writer's word     |
 *         | +512   ACCEPTS SWITCH_AT OUT_END     |
 *         |        IN_CLOSED IN_SWITCHED HOME    |
 *         |        MOVE_GENERATION MOVE_AT       |
 *         |        RING_READY                    |
 *   2048  +--------------------------------------+
 *         | side 1: the same                     |
 *   4096  +--------------------------------------+
 *         | ring written by side 0 (RING_BYTES)  |
 *         +--------------------------------------+
 *         | ring written by side 1 (RING_BYTES)  |
 *         +--------------------------------------+
 * </pre>
 *
 * <p>Positions count bytes from the first one on the fabric and never wrap; a byte at position p is
 * at p modulo the size of the ring in use. A wait word is {@code epoch << 2 | flags}; a new sleep
 * has a new epoch. A grown ring is a file of its own: the writer publishes the position from which
 * it writes there in MOVE_AT, then the count of moves in MOVE_GENERATION, then the next TAIL.
 */
final class ConnectionLayout {
  static final long MAGIC = 0x5441_4c41_5249_4101L; // "TALARIA", version 1

  static final int MAGIC_OFFSET = 0;
  static final int RING_BYTES_OFFSET = 8;
  static final int PHASE_OFFSET = 64;
  static final int CONTROL_BYTES = 4096;

  static final long PHASE_NEGOTIATING = 0;
  static final long PHASE_ESTABLISHED = 1;
  static final long PHASE_WITHDRAWN = 2;

  static final int TAIL = 0;
  static final int HEAD = 128;
  static final int DATA_WAIT = 256;
  static final int SPACE_WAIT = 384;
  static final int ACCEPTS = 512;
  static final int SWITCH_AT = 520;
  static final int OUT_END = 528;
  static final int IN_CLOSED = 536;
  static final int IN_SWITCHED = 544;
  static final int HOME = 552;
  static final int MOVE_GENERATION = 560;
  static final int MOVE_AT = 568;
  static final int RING_READY = 632;

  /** Words of MOVE_AT: from the smallest ring to the largest it takes no more moves. */
  static final int MOST_MOVES = 8;

  /** Values of OUT_END. */
  static final long OUT_OPEN = 0;

  static final long OUT_FINISHED = 1;
  static final long OUT_ABORTED = 2;

  /** Flags of a wait word. */
  static final long WAIT_HINT = 1;

  static final long WAIT_BELL = 2;
  static final int WAIT_FLAG_BITS = 2;

  /** Limits of a ring's size. */
  static final int MIN_RING_BYTES = 4096;

  static final int MAX_RING_BYTES = 1 << 28;

  static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder())
          .withInvokeExactBehavior();

  private ConnectionLayout() {}

  /** Offset of the block that a side writes. */
  static int side(int side) {
    return 1024 + side * 1024;
  }

  /** Offset, in a side's block, of the position at which it made a move; the first is number 0. */
  static int moveAt(long move) {
    return MOVE_AT + (int) move * Long.BYTES;
  }

  static int segmentBytes(int ringBytes) {
    return CONTROL_BYTES + 2 * ringBytes;
  }

  static boolean validRing(long bytes) {
    return bytes >= MIN_RING_BYTES && bytes <= MAX_RING_BYTES && Long.bitCount(bytes) == 1;
  }

  static long get(ByteBuffer control, int offset) {
    return (long) LONG.getAcquire(control, offset);
  }

  static void set(ByteBuffer control, int offset, long value) {
    LONG.setRelease(control, offset, value);
  }

  /** Makes the control page ready for a new connection. Nobody else may be using it. */
  static void reset(ByteBuffer control, int ringBytes) {
    for (int i = 0; i < CONTROL_BYTES; i += Long.BYTES) {
      control.putLong(i, 0);
    }
    LONG.set(control, RING_BYTES_OFFSET, (long) ringBytes);
    LONG.setRelease(control, MAGIC_OFFSET, MAGIC);
  }
}
