// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs.Wc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Room for completions, which {@link CompletionQueue#poll} fills again and again ({@code ibv_wc}).
 * What is read is that of the last poll. Allocates nothing once it is made. Confined to the thread
 * that polls.
 *
 * <p>Of a request that failed, only {@link #id}, {@link #status}, {@link #queuePairNumber} and
 * {@link #vendorError} mean something.
 */
public final class Completions {
  /** More are never taken by one poll: a critical call must be short. */
  public static final int MAX_CAPACITY = 64;

  private final MemorySegment memory;
  private final long address;
  private final int capacity;
  private int count;

  private Completions(int capacity) {
    this.capacity = Bits.inRange(capacity, 1, MAX_CAPACITY, "the room for completions");
    memory = Arena.ofAuto().allocate(Wc.SIZE * capacity, 8);
    address = memory.address();
  }

  /**
   * Makes room.
   *
   * @param capacity for how many, from 1 to {@link #MAX_CAPACITY}
   * @return an empty room
   */
  public static Completions allocate(int capacity) {
    return new Completions(capacity);
  }

  long address() {
    return address;
  }

  int capacity() {
    return capacity;
  }

  void filled(int entries) {
    count = Math.max(entries, 0);
  }

  /**
   * How many the last poll gave.
   *
   * @return from 0 to the capacity
   */
  public int count() {
    return count;
  }

  private long at(int index) {
    return address + Wc.SIZE * Objects.checkIndex(index, count);
  }

  /**
   * The identifier of the request.
   *
   * @param index from 0, below {@link #count}
   * @return what the program has given it
   */
  public long id(int index) {
    return Raw.word(at(index) + Wc.WR_ID);
  }

  /**
   * How the request ended.
   *
   * @param index from 0, below {@link #count}
   * @return one of the constants of {@link Status}
   */
  public int status(int index) {
    return Raw.half(at(index) + Wc.STATUS);
  }

  /**
   * What it was.
   *
   * @param index from 0, below {@link #count}
   * @return one of the constants of {@link Opcode}
   */
  public int opcode(int index) {
    return Raw.half(at(index) + Wc.OPCODE);
  }

  /**
   * Whether something was received.
   *
   * @param index from 0, below {@link #count}
   * @return whether it is of a receive request
   */
  public boolean isReceive(int index) {
    return (opcode(index) & Opcode.RECEIVE) != 0;
  }

  /**
   * How much was received, read or fetched. Datagrams: with the 40 bytes of the route before them.
   *
   * @param index from 0, below {@link #count}
   * @return a number of bytes
   */
  public long bytes(int index) {
    return Raw.half(at(index) + Wc.BYTE_LEN) & 0xffffffffL;
  }

  /**
   * Whether an immediate word came with it.
   *
   * @param index from 0, below {@link #count}
   * @return whether there is one
   */
  public boolean hasImmediate(int index) {
    return (flags(index) & VerbsConstants.IBV_WC_WITH_IMM) != 0;
  }

  /**
   * The immediate word, as the peer has given it.
   *
   * @param index from 0, below {@link #count}
   * @return 32 bits; anything if there is none
   */
  public int immediate(int index) {
    return Bits.networkInt(Raw.half(at(index) + Wc.IMM_DATA));
  }

  /**
   * Whether the peer has made a key of ours invalid.
   *
   * @param index from 0, below {@link #count}
   * @return whether {@link #invalidatedKey} means something
   */
  public boolean hasInvalidatedKey(int index) {
    return (flags(index) & VerbsConstants.IBV_WC_WITH_INV) != 0;
  }

  /**
   * The key that the peer has made invalid.
   *
   * @param index from 0, below {@link #count}
   * @return 32 bits
   */
  public int invalidatedKey(int index) {
    return Raw.half(at(index) + Wc.IMM_DATA);
  }

  /**
   * Whether the first 40 bytes of a datagram's buffer are its route.
   *
   * @param index from 0, below {@link #count}
   * @return whether they are
   */
  public boolean hasRoute(int index) {
    return (flags(index) & VerbsConstants.IBV_WC_GRH) != 0;
  }

  /**
   * Which queue pair of this host it happened to.
   *
   * @param index from 0, below {@link #count}
   * @return its number
   */
  public int queuePairNumber(int index) {
    return Raw.half(at(index) + Wc.QP_NUM);
  }

  /**
   * The queue pair that has sent a datagram.
   *
   * @param index from 0, below {@link #count}
   * @return its number
   */
  public int sourceQueuePair(int index) {
    return Raw.half(at(index) + Wc.SRC_QP);
  }

  /**
   * What the device says about a failure.
   *
   * @param index from 0, below {@link #count}
   * @return a number for the vendor
   */
  public int vendorError(int index) {
    return Raw.half(at(index) + Wc.VENDOR_ERR);
  }

  private int flags(int index) {
    return Raw.half(at(index) + Wc.WC_FLAGS);
  }

  long entry(int index) {
    return at(index);
  }

  @Override
  public String toString() {
    return count + " of " + memory.byteSize() / Wc.SIZE + " completions";
  }
}
