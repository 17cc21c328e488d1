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

  /** Of an active message; its length is known beforehand. */
  static final byte MESSAGE_RECEIVE = 4;

  /** Puts, gets and atomics without fetching. */
  private static final byte REMOTE = 5;

  private static final byte FETCH_INT = 6;
  private static final byte FETCH_LONG = 7;

  /** Compare-and-swap until it succeeds. */
  private static final byte LOOP_INT = 8;

  private static final byte LOOP_LONG = 9;

  private static final int SLOT_BITS = 20;
  private static final int GENERATION_SHIFT = SLOT_BITS;
  private static final int WORKER_SHIFT = 52;
  private static final int MAX_WORKER = 2047;
  private static final int INITIAL = 64;

  /** Operands and replies of atomics. */
  final AtomicCells cells = new AtomicCells();

  private final long workerBits;
  private final long scratch;

  private long[] pointers = new long[INITIAL];
  private Object[] kept = new Object[INITIAL];
  private int[] generations = new int[INITIAL];
  private int[] statuses = new int[INITIAL];
  private byte[] kinds = new byte[INITIAL];
  private long[] lengths = new long[INITIAL];
  private long[] tags = new long[INITIAL];
  private Object[] alsoKept = new Object[INITIAL];
  private RemoteMemory[] memories = new RemoteMemory[INITIAL];
  private long[] atomics = new long[INITIAL];
  private int[] free = new int[INITIAL];
  private int freeCount;

  /** Slots that the program has released before UCX was done: only then may they be used again. */
  private int[] abandoned = new int[INITIAL];

  private int abandonedCount;
  private int reaps;

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
    long request =
        pointer != 0 ? add(pointer, kind, Status.IN_PROGRESS, keep) : add(0, kind, Status.OK, null);
    int slot = slot(request);
    lengths[slot] = lengthIfDone;
    tags[slot] = tagIfDone;
    return request;
  }

  /** Like {@link #posted}, for a send that has two buffers. */
  long posted(long pointer, Object keep, Object alsoKeep) {
    if (pointer == 0 || StatusPointer.isError(pointer)) {
      return pointer;
    }
    long request = add(pointer, SEND, Status.IN_PROGRESS, keep);
    alsoKept[slot(request)] = alsoKeep;
    return request;
  }

  /** Takes what UCX answered to a put or a get, other than 0. */
  long postedRemote(long pointer, RemoteMemory memory, Object keep) {
    return StatusPointer.isError(pointer) ? pointer : add(pointer, REMOTE, memory, keep, 0);
  }

  /** Takes what UCX answered to an atomic without fetching. */
  long postedAtomic(long pointer, RemoteMemory memory, long cell) {
    if (pointer == 0 || StatusPointer.isError(pointer)) {
      cells.giveBack(cell);
      return pointer;
    }
    return add(pointer, REMOTE, memory, null, cell);
  }

  /** Takes what UCX answered to an atomic with fetching: gives a request or a negative status. */
  long fetching(long pointer, RemoteMemory memory, long cell, boolean isLong) {
    return fetching(pointer, memory, cell, isLong ? FETCH_LONG : FETCH_INT);
  }

  /** Begins a loop of compare-and-swap: gives a request or a negative status. */
  long looping(RemoteMemory memory, long cell, boolean isLong) {
    return fetching(memory.attempt(cell, isLong), memory, cell, isLong ? LOOP_LONG : LOOP_INT);
  }

  private long fetching(long pointer, RemoteMemory memory, long cell, byte kind) {
    if (StatusPointer.isError(pointer)) {
      cells.giveBack(cell);
      return pointer;
    }
    if (pointer != 0) {
      return add(pointer, kind, memory, null, cell);
    }
    boolean isLong = kind == FETCH_LONG || kind == LOOP_LONG;
    long value = isLong ? AtomicCells.replyWord(cell) : AtomicCells.replyHalf(cell);
    cells.giveBack(cell);
    return received(0, kind, null, value, 0);
  }

  private long add(long pointer, byte kind, RemoteMemory memory, Object keep, long cell) {
    long request = add(pointer, kind, Status.IN_PROGRESS, keep);
    int slot = slot(request);
    memories[slot] = memory;
    atomics[slot] = cell;
    memory.operationBegun();
    return request;
  }

  private long add(long pointer, byte kind, int status, Object keep) {
    if (abandonedCount > 0) {
      reapOne(abandonedCount - 1);
    }
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
    alsoKept = Arrays.copyOf(alsoKept, size);
    memories = Arrays.copyOf(memories, size);
    atomics = Arrays.copyOf(atomics, size);
    abandoned = Arrays.copyOf(abandoned, size);
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
    if (status == Status.OK
        && kind >= LOOP_INT
        && !AtomicCells.found(atomics[slot], kind == LOOP_LONG)) {
      status = attemptAgain(slot, kind);
    }
    if (status != Status.IN_PROGRESS) {
      statuses[slot] = status;
      lengths[slot] = status == Status.OK ? result(slot, kind) : 0;
      tags[slot] =
          kind == TAG_RECEIVE && status == Status.OK
              ? Raw.word(scratch + TagRecvInfo.SENDER_TAG)
              : 0;
      giveBack(slot);
    }
    return status;
  }

  private int attemptAgain(int slot, byte kind) {
    Ucp.requestFreeCritical(pointers[slot]);
    pointers[slot] = 0;
    long answer = memories[slot].attempt(atomics[slot], kind == LOOP_LONG);
    if (answer == 0 || StatusPointer.isError(answer)) {
      return (int) answer;
    }
    pointers[slot] = answer;
    return Status.IN_PROGRESS;
  }

  private long result(int slot, byte kind) {
    return switch (kind) {
      case TAG_RECEIVE, STREAM_RECEIVE -> Raw.word(scratch + TagRecvInfo.LENGTH);
      case MESSAGE_RECEIVE -> lengths[slot];
      case FETCH_INT, LOOP_INT -> AtomicCells.replyHalf(atomics[slot]);
      case FETCH_LONG, LOOP_LONG -> AtomicCells.replyWord(atomics[slot]);
      default -> 0;
    };
  }

  private void giveBack(int slot) {
    long pointer = pointers[slot];
    Object keep = kept[slot];
    RemoteMemory memory = memories[slot];
    forget(slot);
    if (pointer != 0) {
      Ucp.requestFreeCritical(pointer);
    }
    if (kinds[slot] == CLOSE) {
      ((Endpoint) keep).closeCompleted();
    }
    if (memory != null) {
      if (atomics[slot] != 0) {
        cells.giveBack(atomics[slot]);
      }
      memory.operationOver();
    }
  }

  private void forget(int slot) {
    pointers[slot] = 0;
    kept[slot] = null;
    alsoKept[slot] = null;
    memories[slot] = null;
  }

  long length(long request) {
    int slot = done(request);
    return kinds[slot] >= FETCH_INT ? 0 : lengths[slot];
  }

  long fetched(long request) {
    int slot = done(request);
    if (kinds[slot] < FETCH_INT) {
      throw new IllegalArgumentException("not a request of an atomic that fetches");
    }
    return lengths[slot];
  }

  /** What UCX calls its request; 0: the operation is over. */
  long pointer(long request) {
    return pointers[slot(request)];
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
    // UCX 1.13 corrupts itself when told to cancel sends, puts or atomics.
    if (statuses[slot] == Status.IN_PROGRESS
        && (kinds[slot] == TAG_RECEIVE || kinds[slot] == STREAM_RECEIVE)) {
      Ucp.requestCancel(worker, pointers[slot]);
    }
  }

  void release(long request) {
    release(slot(request));
  }

  private void release(int slot) {
    generations[slot]++;
    if (statuses[slot] == Status.IN_PROGRESS && look(slot) == Status.IN_PROGRESS) {
      abandoned[abandonedCount++] = slot;
    } else {
      free[freeCount++] = slot;
    }
  }

  /** Takes an abandoned slot into use again if UCX is done with it. */
  private void reapOne(int index) {
    int slot = abandoned[index];
    if (look(slot) == Status.IN_PROGRESS) {
      // Look at another one next time.
      int other = (reaps++ & Integer.MAX_VALUE) % (index + 1);
      abandoned[index] = abandoned[other];
      abandoned[other] = slot;
    } else {
      abandoned[index] = abandoned[--abandonedCount];
      free[freeCount++] = slot;
    }
  }

  /** Takes all abandoned slots into use again with which UCX is done. */
  void reap() {
    for (int i = abandonedCount - 1; i >= 0; i--) {
      if (look(abandoned[i]) != Status.IN_PROGRESS) {
        free[freeCount++] = abandoned[i];
        abandoned[i] = abandoned[--abandonedCount];
      }
    }
  }

  int inFlight() {
    return pointers.length - freeCount - abandonedCount;
  }

  private void releaseLast(long worker, int slot) {
    byte kind = kinds[slot];
    if (pointers[slot] != 0 && (kind == STREAM_RECEIVE || kind == TAG_RECEIVE)) {
      Ucp.requestCancel(worker, pointers[slot]);
    }
    if (pointers[slot] != 0 && look(slot) == Status.IN_PROGRESS) {
      // Whatever it needs stays as it is: UCX may look at it once more.
      Ucp.requestFreeCritical(pointers[slot]);
      forget(slot);
    }
    generations[slot]++;
    free[freeCount++] = slot;
  }

  /** Cancels and releases all, before the worker goes. */
  void releaseAll(long worker) {
    boolean[] idle = new boolean[pointers.length];
    for (int i = 0; i < freeCount; i++) {
      idle[free[i]] = true;
    }
    for (int slot = 0; slot < idle.length; slot++) {
      if (!idle[slot]) {
        releaseLast(worker, slot);
      }
    }
    abandonedCount = 0;
  }
}
