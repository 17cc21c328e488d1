// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_DATATYPE_CONTIG;
import static io.talaria.ucx.binding.UcpConstants.UCP_DATATYPE_SHIFT;
import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FIELD_DATATYPE;
import static io.talaria.ucx.binding.UcpConstants.UCP_OP_ATTR_FIELD_REPLY_BUFFER;

import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.UcpStructs.RequestParam;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Native memory for atomics in flight, one cell each, which is UCX's until the operation is done:
 *
 * <pre>
 *   0         8        16                    96      104     112
 *   +---------+--------+---------------------+-------+-------+-----------+
 *   | operand | reply  | ucp_request_param_t | value | place | operation |   128 bytes
 *   +---------+--------+---------------------+-------+-------+-----------+
 * </pre>
 *
 * <p>The last three are for operations that are made of compare-and-swap, whose operand is what is
 * expected.
 *
 * <p>Confined to the thread that uses the worker. Grows with what is in flight.
 */
final class AtomicCells {
  private static final long REPLY = 8;
  private static final long PARAM = 16;
  private static final long LOOP_VALUE = 96;
  private static final long LOOP_PLACE = 104;
  private static final long LOOP_OPERATION = 112;
  private static final long CELL_BYTES = 128;
  private static final int SLAB = 32;
  private static final int POSTING = (int) UCP_OP_ATTR_FIELD_DATATYPE;
  private static final int FETCHING = POSTING | (int) UCP_OP_ATTR_FIELD_REPLY_BUFFER;

  private final Arena arena = Arena.ofAuto();
  private long[] free = new long[0];
  private int freeCount;
  private int size;

  /** Takes a cell for an operation on so many bytes. */
  long take(int bytes, long operand, boolean fetch) {
    if (freeCount == 0) {
      grow();
    }
    long cell = free[--freeCount];
    Raw.word(cell, operand);
    Raw.half(cell + PARAM + RequestParam.OP_ATTR_MASK, fetch ? FETCHING : POSTING);
    Raw.word(
        cell + PARAM + RequestParam.DATATYPE,
        (long) bytes << UCP_DATATYPE_SHIFT | UCP_DATATYPE_CONTIG);
    Raw.word(cell + PARAM + RequestParam.REPLY_BUFFER, cell + REPLY);
    return cell;
  }

  private void grow() {
    long slab = arena.allocate(SLAB * CELL_BYTES, CELL_BYTES).address();
    size += SLAB;
    free = Arrays.copyOf(free, size);
    for (int i = SLAB - 1; i >= 0; i--) {
      free[freeCount++] = slab + i * CELL_BYTES;
    }
  }

  /** Gives a cell back with which UCX is done. */
  void giveBack(long cell) {
    free[freeCount++] = cell;
  }

  static long param(long cell) {
    return cell + PARAM;
  }

  static void reply(long cell, long value) {
    Raw.word(cell + REPLY, value);
  }

  /** Remembers what a loop of compare-and-swap is for. */
  static void loop(long cell, int operation, long value, long place) {
    Raw.word(cell + LOOP_VALUE, value);
    Raw.word(cell + LOOP_PLACE, place);
    Raw.half(cell + LOOP_OPERATION, operation);
  }

  static long loopValue(long cell) {
    return Raw.word(cell + LOOP_VALUE);
  }

  static long loopPlace(long cell) {
    return Raw.word(cell + LOOP_PLACE);
  }

  static int loopOperation(long cell) {
    return Raw.half(cell + LOOP_OPERATION);
  }

  static long expected(long cell) {
    return Raw.word(cell);
  }

  /** Whether a compare-and-swap found what it expected; otherwise it will expect what it found. */
  static boolean found(long cell, boolean isLong) {
    long reply = isLong ? replyWord(cell) : replyHalf(cell);
    long expected = isLong ? Raw.word(cell) : Raw.half(cell);
    Raw.word(cell, reply);
    return reply == expected;
  }

  static long replyWord(long cell) {
    return Raw.word(cell + REPLY);
  }

  static int replyHalf(long cell) {
    return Raw.half(cell + REPLY);
  }
}
