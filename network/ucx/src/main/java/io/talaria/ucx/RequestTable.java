// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Raw;
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
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
  private static final int WORKER_SHIFT = 52;
  private static final int MAX_WORKER = 2047;
  private static final int INITIAL = 64;

  /** A request, or the place for one. */
  private static final class Slot {
    final int index;

    /** What programs know it by; another one each time. */
    long number;

    int generation;

    /** UCX's request; 0: UCX is done with it. */
    long pointer;

    int status;
    byte kind;

    /** Whether it is not free. */
    boolean used;

    long length;
    long tag;

    /** What UCX may still look at. */
    Object kept;

    /** Never read: it only must not be collected. */
    @SuppressWarnings("UnusedVariable")
    Object alsoKept;

    RemoteMemory memory;

    /** The cell of an atomic. */
    long atomic;

    Slot nextFree;

    Slot(int index) {
      this.index = index;
    }
  }

  /** Operands and replies of atomics. */
  final AtomicCells cells = new AtomicCells();

  private final long workerBits;
  private final long scratch;

  private Slot[] slots = new Slot[0];
  private Slot firstFree;
  private int held;

  /** Slots that the program has released before UCX was done: only then may they be used again. */
  private Slot[] abandoned = new Slot[INITIAL];

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
    grow(INITIAL);
  }

  /**
   * Makes sure of a free slot. To be called before UCX gets an operation that may give a request:
   * without a slot for it, nobody would know that UCX uses the buffer.
   *
   * @throws IllegalStateException if there are too many requests
   */
  void reserve() {
    if (firstFree == null) {
      makeRoom();
    }
  }

  /** Whether {@link #reserve} does not throw for too many requests. */
  boolean hasRoom() {
    return firstFree != null || slots.length < 1 << SLOT_BITS;
  }

  private void makeRoom() {
    if (abandonedCount > 0) {
      reapOne(abandonedCount - 1);
    }
    if (firstFree == null && slots.length < 1 << SLOT_BITS) {
      grow(slots.length * 2);
    }
    if (firstFree == null) {
      reap();
    }
    if (firstFree == null) {
      throw new IllegalStateException(
          slots.length + " requests of one worker are in flight or were not released");
    }
  }

  /** Takes what UCX answered to an operation: gives 0, a request or a negative status. */
  long posted(long pointer, byte kind, Object keep) {
    if (pointer == 0 || StatusPointer.isError(pointer)) {
      return pointer;
    }
    return add(pointer, kind, keep).number;
  }

  /** Takes what UCX answered to a receive: gives a request, done or not, or a negative status. */
  long received(long pointer, byte kind, Object keep, long lengthIfDone, long tagIfDone) {
    if (StatusPointer.isError(pointer)) {
      return pointer;
    }
    Slot slot = take(kind);
    slot.length = lengthIfDone;
    slot.tag = tagIfDone;
    if (pointer == 0) {
      slot.status = Status.OK;
    } else {
      slot.pointer = pointer;
      slot.kept = keep;
    }
    return slot.number;
  }

  /** Like {@link #posted}, for a send that has two buffers. */
  long posted(long pointer, Object keep, Object alsoKeep) {
    if (pointer == 0 || StatusPointer.isError(pointer)) {
      return pointer;
    }
    Slot slot = add(pointer, SEND, keep);
    slot.alsoKept = alsoKeep;
    return slot.number;
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
    Slot slot = add(pointer, kind, keep);
    slot.memory = memory;
    slot.atomic = cell;
    memory.operationBegun();
    return slot.number;
  }

  private Slot add(long pointer, byte kind, Object keep) {
    Slot slot = take(kind);
    slot.pointer = pointer;
    slot.kept = keep;
    return slot;
  }

  /** Takes the slot that was reserved; what is to be kept and UCX's request are null in it. */
  private Slot take(byte kind) {
    if (abandonedCount > 0) {
      reapOne(abandonedCount - 1);
    }
    Slot slot = firstFree;
    firstFree = slot.nextFree;
    held++;
    slot.used = true;
    slot.kind = kind;
    slot.status = Status.IN_PROGRESS;
    return slot;
  }

  private void free(Slot slot) {
    slot.used = false;
    slot.nextFree = firstFree;
    firstFree = slot;
  }

  private void grow(int size) {
    int old = slots.length;
    // Memory may run out in here, and the table must still be whole then.
    Slot[] larger = Arrays.copyOf(slots, size);
    for (int i = old; i < size; i++) {
      larger[i] = new Slot(i);
    }
    abandoned = Arrays.copyOf(abandoned, size);
    slots = larger;
    for (int i = size - 1; i >= old; i--) {
      number(larger[i]);
      free(larger[i]);
    }
  }

  private void number(Slot slot) {
    slot.number = workerBits | (slot.generation & 0xffff_ffffL) << SLOT_BITS | slot.index;
  }

  private Slot slot(long request) {
    int index = (int) request & SLOT_MASK;
    Slot[] all = slots;
    if (index < all.length) {
      Slot slot = all[index];
      if (slot.number == request) {
        return slot;
      }
    }
    throw new IllegalArgumentException(
        "no request of this worker, or one that was released: " + Long.toHexString(request));
  }

  /** Whether a request of this worker to close an endpoint has not been released. */
  boolean isHeld(long request) {
    int index = (int) request & SLOT_MASK;
    return index < slots.length && slots[index].number == request && slots[index].kind == CLOSE;
  }

  int status(long request) {
    return status(slot(request));
  }

  private int status(Slot slot) {
    int status = slot.status;
    return status == Status.IN_PROGRESS ? look(slot) : status;
  }

  /** Gives the status, and releases the request if it is over. */
  int poll(long request) {
    Slot slot = slot(request);
    int status = status(slot);
    if (status != Status.IN_PROGRESS) {
      releaseDone(slot);
    }
    return status;
  }

  private int look(Slot slot) {
    long pointer = slot.pointer;
    byte kind = slot.kind;
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
        && !AtomicCells.found(slot.atomic, kind == LOOP_LONG)) {
      status = attemptAgain(slot);
    }
    if (status != Status.IN_PROGRESS) {
      slot.status = status;
      slot.length = status == Status.OK ? result(slot) : 0;
      slot.tag =
          kind == TAG_RECEIVE && status != Status.CANCELED
              ? Raw.word(scratch + TagRecvInfo.SENDER_TAG)
              : 0;
      giveBack(slot);
    }
    return status;
  }

  private int attemptAgain(Slot slot) {
    Ucp.requestFreeCritical(slot.pointer);
    slot.pointer = 0;
    long answer = slot.memory.attempt(slot.atomic, slot.kind == LOOP_LONG);
    if (answer == 0 || StatusPointer.isError(answer)) {
      return (int) answer;
    }
    slot.pointer = answer;
    return Status.IN_PROGRESS;
  }

  private long result(Slot slot) {
    return switch (slot.kind) {
      case TAG_RECEIVE, STREAM_RECEIVE -> Raw.word(scratch + TagRecvInfo.LENGTH);
      case MESSAGE_RECEIVE -> slot.length;
      case FETCH_INT, LOOP_INT -> AtomicCells.replyHalf(slot.atomic);
      case FETCH_LONG, LOOP_LONG -> AtomicCells.replyWord(slot.atomic);
      default -> 0;
    };
  }

  private void giveBack(Slot slot) {
    long pointer = slot.pointer;
    Object keep = slot.kept;
    RemoteMemory memory = slot.memory;
    forget(slot);
    if (pointer != 0) {
      Ucp.requestFreeCritical(pointer);
    }
    if (slot.kind == CLOSE) {
      ((Endpoint) keep).closeCompleted();
    }
    if (memory != null) {
      if (slot.atomic != 0) {
        cells.giveBack(slot.atomic);
      }
      memory.operationOver();
    }
  }

  private static void forget(Slot slot) {
    slot.pointer = 0;
    slot.kept = null;
    slot.alsoKept = null;
    slot.memory = null;
  }

  long length(long request) {
    Slot slot = done(request);
    return slot.kind >= FETCH_INT ? 0 : slot.length;
  }

  long fetched(long request) {
    Slot slot = done(request);
    if (slot.kind < FETCH_INT) {
      throw new IllegalArgumentException("not a request of an atomic that fetches");
    }
    return slot.length;
  }

  /** What UCX calls its request; 0: the operation is over. */
  long pointer(long request) {
    return slot(request).pointer;
  }

  long tag(long request) {
    return done(request).tag;
  }

  private Slot done(long request) {
    Slot slot = slot(request);
    if (slot.status == Status.IN_PROGRESS) {
      throw new IllegalStateException("the request is in progress: ask for its status first");
    }
    return slot;
  }

  void cancel(long worker, long request) {
    Slot slot = slot(request);
    // UCX 1.13 corrupts itself when told to cancel sends, puts or atomics.
    if (slot.status == Status.IN_PROGRESS
        && (slot.kind == TAG_RECEIVE || slot.kind == STREAM_RECEIVE)) {
      Ucp.requestCancel(worker, slot.pointer);
    }
  }

  void release(long request) {
    Slot slot = slot(request);
    if (status(slot) == Status.IN_PROGRESS) {
      leave(slot);
      abandoned[abandonedCount++] = slot;
    } else {
      releaseDone(slot);
    }
  }

  private void releaseDone(Slot slot) {
    leave(slot);
    free(slot);
  }

  /** The program does not know it any more. */
  private void leave(Slot slot) {
    held--;
    slot.generation++;
    number(slot);
  }

  /** Takes an abandoned slot into use again if UCX is done with it. */
  private void reapOne(int index) {
    Slot slot = abandoned[index];
    if (look(slot) == Status.IN_PROGRESS) {
      // Look at another one next time.
      int other = (reaps++ & Integer.MAX_VALUE) % (index + 1);
      abandoned[index] = abandoned[other];
      abandoned[other] = slot;
    } else {
      abandoned[index] = abandoned[--abandonedCount];
      free(slot);
    }
  }

  /** Takes all abandoned slots into use again with which UCX is done. */
  void reap() {
    for (int i = abandonedCount - 1; i >= 0; i--) {
      if (look(abandoned[i]) != Status.IN_PROGRESS) {
        free(abandoned[i]);
        abandoned[i] = abandoned[--abandonedCount];
      }
    }
  }

  int inFlight() {
    return held;
  }

  private void releaseLast(long worker, Slot slot) {
    if (slot.pointer != 0 && (slot.kind == STREAM_RECEIVE || slot.kind == TAG_RECEIVE)) {
      Ucp.requestCancel(worker, slot.pointer);
    }
    if (slot.pointer != 0 && look(slot) == Status.IN_PROGRESS) {
      // Whatever it needs stays as it is: UCX may look at it once more.
      Ucp.requestFreeCritical(slot.pointer);
      forget(slot);
    }
    releaseDone(slot);
  }

  /** Cancels and releases all, before the worker goes. */
  void releaseAll(long worker) {
    for (Slot slot : slots) {
      if (slot.used) {
        releaseLast(worker, slot);
      }
    }
    abandonedCount = 0;
    held = 0;
  }
}
