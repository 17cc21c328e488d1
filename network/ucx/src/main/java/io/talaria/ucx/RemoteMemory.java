// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_ATOMIC_OP_ADD;
import static io.talaria.ucx.binding.UcpConstants.UCP_ATOMIC_OP_AND;
import static io.talaria.ucx.binding.UcpConstants.UCP_ATOMIC_OP_CSWAP;
import static io.talaria.ucx.binding.UcpConstants.UCP_ATOMIC_OP_OR;
import static io.talaria.ucx.binding.UcpConstants.UCP_ATOMIC_OP_SWAP;
import static io.talaria.ucx.binding.UcpConstants.UCP_ATOMIC_OP_XOR;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ucx.binding.Ucp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;

/**
 * A peer's {@link MemoryRegion}, seen through an endpoint ({@code ucp_rkey_h}): to be read, written
 * and changed without the peer's doing. Made by {@link Endpoint#unpack}; obeys the worker's rule of
 * threads. Closing the endpoint closes it. UCX's key lives on until the operations in flight are
 * over, so it may be closed at any time.
 *
 * <p>Places are offsets into the region, checked against its length: UCX checks nothing. If the
 * peer has closed the region meanwhile, neither UCX nor this class detects it, and a write may then
 * end the peer's process: agree with the peer before it closes the region.
 *
 * <p>Operations answer 0 (done), a request (greater than 1) or a negative {@link Status}; they
 * neither block nor allocate. Done means that the local buffer may be used again; {@link
 * Endpoint#flush} tells when the peer's memory has changed. Operations are not ordered, but by
 * {@link Worker#fence}. Where the network cannot do it alone, UCX has the peer's worker do it,
 * which must then progress.
 *
 * <p>Atomics are atomic with regard to each other when they come through UCX, on places that are a
 * multiple of their size. The program's own atomics on its region are in step with them over shared
 * memory only. And, or, xor with fetching are made of compare-and-swap: they proceed only when the
 * worker is asked for their status.
 */
public final class RemoteMemory implements AutoCloseable {
  private static final int ADD = (int) UCP_ATOMIC_OP_ADD;
  private static final int AND = (int) UCP_ATOMIC_OP_AND;
  private static final int OR = (int) UCP_ATOMIC_OP_OR;
  private static final int XOR = (int) UCP_ATOMIC_OP_XOR;
  private static final int SWAP = (int) UCP_ATOMIC_OP_SWAP;
  private static final int COMPARE_AND_SWAP = (int) UCP_ATOMIC_OP_CSWAP;

  private final Endpoint endpoint;
  private final Worker worker;
  private final long key;
  private final long address;
  private final long length;
  private int inFlight;
  private boolean closed;

  /** The endpoint's others. */
  private RemoteMemory next;

  private RemoteMemory(Endpoint endpoint, long key, RemoteKey packed, RemoteMemory next) {
    this.endpoint = endpoint;
    this.worker = endpoint.worker();
    this.key = key;
    this.next = next;
    address = packed.address();
    length = packed.lengthBytes();
  }

  static RemoteMemory unpack(Endpoint endpoint, RemoteKey packed, RemoteMemory next) {
    long ep = endpoint.open();
    try (Arena arena = Arena.ofConfined()) {
      byte[] raw = packed.raw();
      // UCX reads a key without knowing its length: zeros follow, should it read on.
      MemorySegment buffer = arena.allocate(raw.length + 256L, 8);
      MemorySegment.copy(raw, 0, buffer, ValueLayout.JAVA_BYTE, 0, raw.length);
      MemorySegment out = arena.allocate(JAVA_LONG);
      Status.check(
          Ucp.epRkeyUnpack(ep, buffer.address(), out.address()), "ucp_ep_rkey_unpack of " + packed);
      return new RemoteMemory(endpoint, out.get(JAVA_LONG, 0), packed, next);
    }
  }

  RemoteMemory next() {
    return next;
  }

  /** A list without one of its members. */
  static RemoteMemory without(RemoteMemory first, RemoteMemory memory) {
    if (first == memory) {
      return memory.next;
    }
    RemoteMemory before = first;
    while (before.next != memory) {
      before = before.next;
    }
    before.next = memory.next;
    return first;
  }

  /**
   * How long the region is.
   *
   * @return a number of bytes
   */
  public long lengthBytes() {
    return length;
  }

  /**
   * The endpoint it is seen through.
   *
   * @return the endpoint
   */
  public Endpoint endpoint() {
    return endpoint;
  }

  /**
   * Whether neither it nor its endpoint has been closed.
   *
   * @return whether it is open
   */
  public boolean isOpen() {
    return !closed;
  }

  /** The endpoint's handle, for a call that may give a request. */
  private long open(Feature feature) {
    long ep = endpoint.openForRequest(feature);
    if (closed) {
      throw new IllegalStateException("the remote memory is closed");
    }
    return ep;
  }

  private long place(long at, long count) {
    return address + Objects.checkFromIndexSize(at, count, length);
  }

  private boolean critical(long count) {
    return count <= Native.CRITICAL_BYTES && worker.callsAreCritical();
  }

  private long posted(long answer, MemorySegment buffer) {
    return answer == 0 ? 0 : worker.requests.postedRemote(answer, this, buffer);
  }

  /** An operation is in UCX's hands from now on. */
  void operationBegun() {
    inFlight++;
  }

  /** UCX is done with an operation. */
  void operationOver() {
    inFlight--;
    if (closed && inFlight == 0) {
      Ucp.rkeyDestroy(key);
    }
  }

  /**
   * Writes to the peer's memory ({@code ucp_put_nbx}).
   *
   * @param from native memory
   * @param offset where in it
   * @param count how many bytes
   * @param at where in the region
   * @param flags {@link SendFlags}, or 0
   * @return 0: the buffer may be used again; a request: after it is done; or a negative status
   */
  public long put(MemorySegment from, long offset, long count, long at, int flags) {
    long ep = open(Feature.RMA);
    long local = Native.readable(from, offset, count);
    long remote = place(at, count);
    long param = SendFlags.param(flags);
    if (count == 0) {
      return 0;
    }
    try {
      long answer =
          critical(count)
              ? Ucp.putNbxCritical(ep, local, count, remote, key, param)
              : Ucp.putNbx(ep, local, count, remote, key, param);
      return posted(answer, from);
    } finally {
      Reference.reachabilityFence(from);
    }
  }

  /**
   * Reads the peer's memory ({@code ucp_get_nbx}).
   *
   * @param to native memory; UCX's until the operation is done
   * @param offset where in it
   * @param count how many bytes
   * @param at where in the region
   * @return 0: the bytes are there; a request: after it is done; or a negative status
   */
  public long get(MemorySegment to, long offset, long count, long at) {
    long ep = open(Feature.RMA);
    long local = Native.writable(to, offset, count);
    long remote = place(at, count);
    if (count == 0) {
      return 0;
    }
    try {
      long param = SendFlags.param(0);
      long answer =
          critical(count)
              ? Ucp.getNbxCritical(ep, local, count, remote, key, param)
              : Ucp.getNbx(ep, local, count, remote, key, param);
      return posted(answer, to);
    } finally {
      Reference.reachabilityFence(to);
    }
  }

  // Atomics on 8 bytes.

  /**
   * Adds to a long ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value what to add
   * @return 0, a request, or a negative status
   */
  public long addLong(long at, long value) {
    return post(ADD, 8, at, value);
  }

  /**
   * Sets a long to itself and a value, bit by bit ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the other operand
   * @return 0, a request, or a negative status
   */
  public long andLong(long at, long value) {
    return post(AND, 8, at, value);
  }

  /**
   * Sets a long to itself or a value, bit by bit ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the other operand
   * @return 0, a request, or a negative status
   */
  public long orLong(long at, long value) {
    return post(OR, 8, at, value);
  }

  /**
   * Sets a long to itself exclusive-or a value ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the other operand
   * @return 0, a request, or a negative status
   */
  public long xorLong(long at, long value) {
    return post(XOR, 8, at, value);
  }

  /**
   * Adds to a long, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value what to add
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchAddLong(long at, long value) {
    return fetch(ADD, 8, at, value, 0);
  }

  /**
   * Sets a long to itself and a value, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the other operand
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchAndLong(long at, long value) {
    return fetchByLoop(AND, 8, at, value);
  }

  /**
   * Sets a long to itself or a value, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the other operand
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchOrLong(long at, long value) {
    return fetchByLoop(OR, 8, at, value);
  }

  /**
   * Sets a long to itself exclusive-or a value, and fetches what it was ({@code
   * ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the other operand
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchXorLong(long at, long value) {
    return fetchByLoop(XOR, 8, at, value);
  }

  /**
   * Replaces a long, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param value the new value
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long swapLong(long at, long value) {
    return fetch(SWAP, 8, at, value, 0);
  }

  /**
   * Replaces a long if it is what is expected, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 8
   * @param expected what it must be
   * @param value the new value
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long compareAndSwapLong(long at, long expected, long value) {
    return fetch(COMPARE_AND_SWAP, 8, at, expected, value);
  }

  // Atomics on 4 bytes.

  /**
   * Adds to an int ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value what to add
   * @return 0, a request, or a negative status
   */
  public long addInt(long at, int value) {
    return post(ADD, 4, at, value);
  }

  /**
   * Sets an int to itself and a value, bit by bit ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the other operand
   * @return 0, a request, or a negative status
   */
  public long andInt(long at, int value) {
    return post(AND, 4, at, value);
  }

  /**
   * Sets an int to itself or a value, bit by bit ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the other operand
   * @return 0, a request, or a negative status
   */
  public long orInt(long at, int value) {
    return post(OR, 4, at, value);
  }

  /**
   * Sets an int to itself exclusive-or a value ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the other operand
   * @return 0, a request, or a negative status
   */
  public long xorInt(long at, int value) {
    return post(XOR, 4, at, value);
  }

  /**
   * Adds to an int, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value what to add
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchAddInt(long at, int value) {
    return fetch(ADD, 4, at, value, 0);
  }

  /**
   * Sets an int to itself and a value, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the other operand
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchAndInt(long at, int value) {
    return fetchByLoop(AND, 4, at, value);
  }

  /**
   * Sets an int to itself or a value, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the other operand
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchOrInt(long at, int value) {
    return fetchByLoop(OR, 4, at, value);
  }

  /**
   * Sets an int to itself exclusive-or a value, and fetches what it was ({@code
   * ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the other operand
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long fetchXorInt(long at, int value) {
    return fetchByLoop(XOR, 4, at, value);
  }

  /**
   * Replaces an int, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param value the new value
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long swapInt(long at, int value) {
    return fetch(SWAP, 4, at, value, 0);
  }

  /**
   * Replaces an int if it is what is expected, and fetches what it was ({@code ucp_atomic_op_nbx}).
   *
   * @param at where in the region; a multiple of 4
   * @param expected what it must be
   * @param value the new value
   * @return a request, done or not, for {@link Worker#fetched}; or a negative status
   */
  public long compareAndSwapInt(long at, int expected, int value) {
    return fetch(COMPARE_AND_SWAP, 4, at, expected, value);
  }

  private long post(int operation, int bytes, long at, long operand) {
    long ep = open(bytes == 8 ? Feature.ATOMIC_64 : Feature.ATOMIC_32);
    long remote = aligned(at, bytes);
    long cell = worker.requests.cells.take(bytes, operand, false);
    return worker.requests.postedAtomic(call(ep, operation, cell, remote), this, cell);
  }

  private long fetch(int operation, int bytes, long at, long operand, long replacement) {
    long ep = open(bytes == 8 ? Feature.ATOMIC_64 : Feature.ATOMIC_32);
    long remote = aligned(at, bytes);
    long cell = worker.requests.cells.take(bytes, operand, true);
    AtomicCells.reply(cell, replacement);
    return worker.requests.fetching(call(ep, operation, cell, remote), this, cell, bytes == 8);
  }

  /**
   * UCX 1.13 has these operations change shared memory wrongly, and most networks lack them: so
   * they are made of compare-and-swap.
   */
  private long fetchByLoop(int operation, int bytes, long at, long value) {
    long ignored = open(bytes == 8 ? Feature.ATOMIC_64 : Feature.ATOMIC_32);
    long remote = aligned(at, bytes);
    long cell = worker.requests.cells.take(bytes, 0, true);
    AtomicCells.loop(cell, operation, value, remote);
    return worker.requests.looping(this, cell, bytes == 8);
  }

  /** Tries until UCX does not answer at once: gives what it answered, 0 being success. */
  long attempt(long cell, boolean isLong) {
    long value = AtomicCells.loopValue(cell);
    int operation = AtomicCells.loopOperation(cell);
    long answer;
    do {
      if (!endpoint.isOpen()) {
        return Status.CANCELED;
      }
      AtomicCells.reply(cell, combined(operation, AtomicCells.expected(cell), value));
      answer = call(endpoint.open(), COMPARE_AND_SWAP, cell, AtomicCells.loopPlace(cell));
    } while (answer == 0 && !AtomicCells.found(cell, isLong));
    return answer;
  }

  private static long combined(int operation, long expected, long value) {
    if (operation == AND) {
      return expected & value;
    }
    return operation == OR ? expected | value : expected ^ value;
  }

  private long call(long ep, int operation, long cell, long remote) {
    long param = AtomicCells.param(cell);
    return worker.callsAreCritical()
        ? Ucp.atomicOpNbxCritical(ep, operation, cell, 1, remote, key, param)
        : Ucp.atomicOpNbx(ep, operation, cell, 1, remote, key, param);
  }

  private long aligned(long at, int bytes) {
    long remote = place(at, bytes);
    if ((remote & bytes - 1) != 0) {
      throw new IllegalArgumentException(
          "an atomic on " + bytes + " bytes at offset " + at + ", which is no multiple of them");
    }
    return remote;
  }

  /**
   * Gives the key up, once the operations in flight are over ({@code ucp_rkey_destroy}). Does
   * nothing if it is closed.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    worker.entered();
    endpoint.forget(this);
    closed = true;
    if (inFlight == 0) {
      Ucp.rkeyDestroy(key);
    }
  }

  @Override
  public String toString() {
    return "RemoteMemory[" + length + " bytes at " + endpoint + (closed ? ", closed]" : "]");
  }
}
