// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ucx.binding.Raw;
import io.talaria.ucx.binding.StatusPointer;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.TagRecvInfo;
import java.util.Arrays;

/**
 * The requests of one worker. A request is known to programs by a number, so that one that is stale
 * or another worker's is refused instead of handed to UCX:
 *
 * <pre>
 *   63  62      52 51          20 19    0
 *   +--+----------+--------------+-------+
 *   |0 | worker   | generation   | slot  |
 *   +--+----------+--------------+-------+
 * </pre>
 *
 * <p>Confined to the thread that uses the worker. Grows with what is in flight; otherwise allocates
 * nothing. What UCX has completed is given back to UCX at once; the slot keeps its outcome until it
 * is released.
 */
final class RequestTable {
  /** What a request is for, and so how it is asked. */
  static final byte SEND = 0;

  static final byte STREAM_RECEIVE = 1;
  static final byte TAG_RECEIVE = 2;
  static final byte CLOSE = 3;

  private static final int SLOT_BITS = 20;
  private static final int GENERATION_SHIFT = SLOT_BITS;
  private static final int WORKER_SHIFT = 52;
  private static final int MAX_WORKER = 2047;
  private static final int INITIAL = 64;

  private final long workerBits;
  private final long scratch;

  private long[] pointers = new long[INITIAL];
  private Object[] kept = new Object[INITIAL];
  private int[] generations = new int[INITIAL];
  private int[] statuses = new int[INITIAL];
  private byte[] kinds = new byte[INITIAL];
  private long[] lengths = new long[INITIAL];
  private long[] tags = new long[INITIAL];
  private int[] free = new int[INITIAL];
  private int freeCount;

  /**
   * Makes a table.
   *
   * @param worker a number that tells workers apart
   * @param scratch room for a {@code ucp_tag_recv_info_t}
   */
  RequestTable(int worker, long scratch) {
    workerBits = (long) (1 + worker % MAX_WORKER) << WORKER_SHIFT;
    this.scratch = scratch;
    addFree(0, INITIAL);
  }

  /** Takes what UCX answered to an operation: gives 0, a request or a negative status. */
  long posted(long pointer, byte kind, Object keep) {
    if (pointer == 0 || StatusPointer.isError(pointer)) {
      return pointer;
    }
    return add(pointer, kind, Status.IN_PROGRESS, keep);
  }

  /** Takes what UCX answered to a receive: gives a request, done or not, or a negative status. */
  long received(long pointer, byte kind, Object keep, long lengthIfDone, long tagIfDone) {
    if (StatusPointer.isError(pointer)) {
      return pointer;
    }
    if (pointer != 0) {
      return add(pointer, kind, Status.IN_PROGRESS, keep);
    }
    long request = add(0, kind, Status.OK, null);
    int slot = slot(request);
    lengths[slot] = lengthIfDone;
    tags[slot] = tagIfDone;
    return request;
  }

  private long add(long pointer, byte kind, int status, Object keep) {
    if (freeCount == 0) {
      grow();
    }
    int slot = free[--freeCount];
    pointers[slot] = pointer;
    kinds[slot] = kind;
    statuses[slot] = status;
    kept[slot] = keep;
    return workerBits | (generations[slot] & 0xffff_ffffL) << GENERATION_SHIFT | slot;
  }

  private void grow() {
    int old = pointers.length;
    if (old == 1 << SLOT_BITS) {
      throw new IllegalStateException(old + " requests of one worker are in flight");
    }
    int size = old * 2;
    pointers = Arrays.copyOf(pointers, size);
    kept = Arrays.copyOf(kept, size);
    generations = Arrays.copyOf(generations, size);
    statuses = Arrays.copyOf(statuses, size);
    kinds = Arrays.copyOf(kinds, size);
    lengths = Arrays.copyOf(lengths, size);
    tags = Arrays.copyOf(tags, size);
    free = Arrays.copyOf(free, size);
    addFree(old, size);
  }

  private void addFree(int from, int to) {
    for (int slot = to - 1; slot >= from; slot--) {
      free[freeCount++] = slot;
    }
  }

  private int slot(long request) {
    int slot = (int) request & (1 << SLOT_BITS) - 1;
    if (slot >= pointers.length
        || request
            != (workerBits | (generations[slot] & 0xffff_ffffL) << GENERATION_SHIFT | slot)) {
      throw new IllegalArgumentException(
          "no request of this worker, or one that was released: " + Long.toHexString(request));
    }
    return slot;
  }

  /** Whether a request of this worker has not been released. */
  boolean isHeld(long request) {
    int slot = (int) request & (1 << SLOT_BITS) - 1;
    return slot < pointers.length
        && request == (workerBits | (generations[slot] & 0xffff_ffffL) << GENERATION_SHIFT | slot)
        && kinds[slot] == CLOSE;
  }

  int status(long request) {
    int slot = slot(request);
    int status = statuses[slot];
    return status == Status.IN_PROGRESS ? look(slot) : status;
  }

  private int look(int slot) {
    long pointer = pointers[slot];
    byte kind = kinds[slot];
    int status;
    if (kind == TAG_RECEIVE) {
      status = Ucp.tagRecvRequestTestCritical(pointer, scratch);
    } else if (kind == STREAM_RECEIVE) {
      status = Ucp.streamRecvRequestTestCritical(pointer, scratch + TagRecvInfo.LENGTH);
    } else {
      status = Ucp.requestCheckStatusCritical(pointer);
    }
    if (status != Status.IN_PROGRESS) {
      statuses[slot] = status;
      boolean receive = kind == TAG_RECEIVE || kind == STREAM_RECEIVE;
      lengths[slot] = receive && status == Status.OK ? Raw.word(scratch + TagRecvInfo.LENGTH) : 0;
      tags[slot] =
          kind == TAG_RECEIVE && status == Status.OK
              ? Raw.word(scratch + TagRecvInfo.SENDER_TAG)
              : 0;
      giveBack(slot);
    }
    return status;
  }

  private void giveBack(int slot) {
    long pointer = pointers[slot];
    Object keep = kept[slot];
    pointers[slot] = 0;
    kept[slot] = null;
    Ucp.requestFreeCritical(pointer);
    if (kinds[slot] == CLOSE) {
      ((Endpoint) keep).closeCompleted();
    }
  }

  long length(long request) {
    return lengths[done(request)];
  }

  long tag(long request) {
    return tags[done(request)];
  }

  private int done(long request) {
    int slot = slot(request);
    if (statuses[slot] == Status.IN_PROGRESS) {
      throw new IllegalStateException("the request is in progress: ask for its status first");
    }
    return slot;
  }

  void cancel(long worker, long request) {
    int slot = slot(request);
    if (statuses[slot] == Status.IN_PROGRESS) {
      Ucp.requestCancel(worker, pointers[slot]);
    }
  }

  void release(long request) {
    release(slot(request));
  }

  private void release(int slot) {
    if (pointers[slot] != 0) {
      long pointer = pointers[slot];
      pointers[slot] = 0;
      Ucp.requestFreeCritical(pointer);
    }
    kept[slot] = null;
    generations[slot]++;
    free[freeCount++] = slot;
  }

  int inFlight() {
    return pointers.length - freeCount;
  }

  /** Cancels and releases all, before the worker goes. */
  void releaseAll(long worker) {
    boolean[] idle = new boolean[pointers.length];
    for (int i = 0; i < freeCount; i++) {
      idle[free[i]] = true;
    }
    for (int slot = 0; slot < idle.length; slot++) {
      if (!idle[slot]) {
        if (pointers[slot] != 0 && kinds[slot] != CLOSE && kinds[slot] != SEND) {
          Ucp.requestCancel(worker, pointers[slot]);
        }
        release(slot);
      }
    }
  }
}
