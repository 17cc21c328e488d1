// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs.QpEx;
import java.lang.foreign.MemorySegment;

/**
 * A queue pair that requests can be posted to field by field, without a block ({@code ibv_qp_ex},
 * {@code ibv_wr_*}). {@link #start} begins, {@link #complete} posts all since then, {@link #abort}
 * none. Each request is begun by its kind, then gets its data, and its destination if it is a
 * datagram. Blocks can be posted, too, but not within a batch.
 *
 * <pre>{@code
 * queuePair.start();
 * queuePair.id(7, true);
 * queuePair.write(key, address);
 * queuePair.piece(region, 0, 64);
 * int status = queuePair.complete();
 * }</pre>
 */
public final class ExtendedQueuePair extends QueuePair {
  private static final int CONNECTED =
      VerbsConstants.IBV_QP_EX_WITH_SEND
          | VerbsConstants.IBV_QP_EX_WITH_SEND_WITH_IMM
          | VerbsConstants.IBV_QP_EX_WITH_RDMA_WRITE
          | VerbsConstants.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  private static final int RELIABLE =
      CONNECTED
          | VerbsConstants.IBV_QP_EX_WITH_RDMA_READ
          | VerbsConstants.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
          | VerbsConstants.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  private static final int DATAGRAMS =
      VerbsConstants.IBV_QP_EX_WITH_SEND | VerbsConstants.IBV_QP_EX_WITH_SEND_WITH_IMM;

  private final long extended;
  private final MemorySegment start;
  private final MemorySegment complete;
  private final MemorySegment abort;
  private final MemorySegment send;
  private final MemorySegment sendImm;
  private final MemorySegment write;
  private final MemorySegment writeImm;
  private final MemorySegment read;
  private final MemorySegment fetchAdd;
  private final MemorySegment compareSwap;
  private final MemorySegment setSge;
  private final MemorySegment setInline;
  private final MemorySegment setUdAddr;

  /** How many requests of the batch. Confined to the thread that posts. */
  private int begun;

  /**
   * A request has a kind, but no data yet: it is kept here until then, because its flags must say
   * whether the data is inline (soft-RoCE does not find out by itself).
   */
  private boolean dataMissing;

  private Kind kind = Kind.SEND;
  private MemorySegment function = MemorySegment.NULL;
  private int remoteKey;
  private long remoteAddress;
  private long operand;
  private long swapOperand;
  private int immediate;

  /** The destination of the request that is kept, or null. */
  private AddressHandle destination;

  /** Whether the last request has a destination. */
  private boolean addressed;

  private int destinationNumber;
  private int destinationKey;

  private boolean signaled;

  private enum Kind {
    SEND,
    SEND_IMMEDIATE,
    REMOTE,
    REMOTE_IMMEDIATE,
    FETCH_ADD,
    COMPARE_SWAP
  }

  ExtendedQueuePair(Builder options) {
    super(options, true, 0);
    try {
      extended = Ibv.qpToQpEx(pointer());
      if (extended < 0) {
        throw new VerbsException((int) extended, "ibv_qp_to_qp_ex");
      }
      start = IbvOps.pointerAt(extended + QpEx.WR_START);
      complete = IbvOps.pointerAt(extended + QpEx.WR_COMPLETE);
      abort = IbvOps.pointerAt(extended + QpEx.WR_ABORT);
      send = IbvOps.pointerAt(extended + QpEx.WR_SEND);
      sendImm = IbvOps.pointerAt(extended + QpEx.WR_SEND_IMM);
      write = IbvOps.pointerAt(extended + QpEx.WR_RDMA_WRITE);
      writeImm = IbvOps.pointerAt(extended + QpEx.WR_RDMA_WRITE_IMM);
      read = IbvOps.pointerAt(extended + QpEx.WR_RDMA_READ);
      fetchAdd = IbvOps.pointerAt(extended + QpEx.WR_ATOMIC_FETCH_ADD);
      compareSwap = IbvOps.pointerAt(extended + QpEx.WR_ATOMIC_CMP_SWP);
      setSge = IbvOps.pointerAt(extended + QpEx.WR_SET_SGE);
      setInline = IbvOps.pointerAt(extended + QpEx.WR_SET_INLINE_DATA);
      setUdAddr = IbvOps.pointerAt(extended + QpEx.WR_SET_UD_ADDR);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** What a type can do by extended calls. */
  static long operations(Type type) {
    return switch (type) {
      case RC -> RELIABLE;
      case UC -> CONNECTED;
      case UD -> DATAGRAMS;
    };
  }

  /** Begins a batch of requests ({@code ibv_wr_start}). Until it ends, no other thread may post. */
  public void start() {
    long ignored = pointer();
    requireNoBatch();
    IbvOps.wrStart(start, extended);
    inBatch = true;
    begun = 0;
    dataMissing = false;
    signaled = false;
  }

  /**
   * Sets the identifier of the next request, and whether it is signalled.
   *
   * @param id what its completion will have
   * @param signal whether it gives a completion
   */
  public void id(long id, boolean signal) {
    requireBatch();
    if (dataMissing) {
      throw new IllegalStateException("the request before has no data: see piece() and inline()");
    }
    Raw.word(extended + QpEx.WR_ID, id);
    signaled = signal;
  }

  private void requireBatch() {
    long ignored = pointer();
    if (!inBatch) {
      throw new IllegalStateException("no batch has begun: see start()");
    }
  }

  private void request(Kind what, MemorySegment how) {
    requireBatch();
    if (dataMissing) {
      throw new IllegalStateException("the request before has no data: see piece() and inline()");
    }
    requireAddressed();
    if (how.address() == 0) {
      throw new UnsupportedOperationException("an " + type() + " queue pair cannot do this");
    }
    if (!sendRoom(begun + 1)) {
      throw new IllegalStateException(
          "the send queue has no room for request "
              + (begun + 1)
              + " of the batch: poll first; abort() ends the batch");
    }
    sending(begun, signaled);
    begun++;
    dataMissing = true;
    kind = what;
    function = how;
    destination = null;
    addressed = false;
  }

  /** A provider sends a datagram without a destination to that of an earlier one, or crashes. */
  private void requireAddressed() {
    if (type() == Type.UD && begun > 0 && !addressed) {
      throw new IllegalStateException("the last request has no destination: see to()");
    }
  }

  private void remote(Kind what, MemorySegment how, int key, long address) {
    request(what, how);
    remoteKey = key;
    remoteAddress = address;
  }

  /** Calls what begins the request, now that its flags are known. */
  private void issue(int flags) {
    if (destination != null) {
      long ignored = destination.pointer(); // a closed one is refused before anything has begun
    }
    int all = flags | (signaled ? VerbsConstants.IBV_SEND_SIGNALED : 0);
    Raw.half(extended + QpEx.WR_FLAGS, all);
    switch (kind) {
      case SEND -> IbvOps.wrStart(function, extended);
      case SEND_IMMEDIATE -> IbvOps.wrValue(function, extended, immediate);
      case REMOTE -> IbvOps.wrRemote(function, extended, remoteKey, remoteAddress);
      case REMOTE_IMMEDIATE ->
          IbvOps.wrRemoteImm(function, extended, remoteKey, remoteAddress, immediate);
      case FETCH_ADD -> IbvOps.wrFetchAdd(function, extended, remoteKey, remoteAddress, operand);
      case COMPARE_SWAP ->
          IbvOps.wrCompareSwap(function, extended, remoteKey, remoteAddress, operand, swapOperand);
    }
    dataMissing = false;
    if (destination != null) {
      setDestination();
    }
  }

  private void setDestination() {
    IbvOps.wrSetUdAddr(
        setUdAddr, extended, destination.pointer(), destinationNumber, destinationKey);
    destination = null;
  }

  /** Begins a message ({@code ibv_wr_send}). */
  public void send() {
    request(Kind.SEND, send);
  }

  /**
   * Begins a message with a word for the receiver's completion ({@code ibv_wr_send_imm}).
   *
   * @param immediate 32 bits
   */
  public void sendImmediate(int immediate) {
    request(Kind.SEND_IMMEDIATE, sendImm);
    this.immediate = Bits.networkInt(immediate);
  }

  /**
   * Begins a write to remote memory ({@code ibv_wr_rdma_write}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   */
  public void write(int remoteKey, long address) {
    requireConnected();
    remote(Kind.REMOTE, write, remoteKey, address);
  }

  /**
   * Begins a write that completes a receive request there ({@code ibv_wr_rdma_write_imm}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   * @param immediate 32 bits for that completion
   */
  public void writeImmediate(int remoteKey, long address, int immediate) {
    requireConnected();
    remote(Kind.REMOTE_IMMEDIATE, writeImm, remoteKey, address);
    this.immediate = Bits.networkInt(immediate);
  }

  /**
   * Begins a read of remote memory ({@code ibv_wr_rdma_read}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   */
  public void read(int remoteKey, long address) {
    requireReliable();
    remote(Kind.REMOTE, read, remoteKey, address);
  }

  /**
   * Begins an atomic addition ({@code ibv_wr_atomic_fetch_add}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   * @param add what to add
   */
  public void fetchAdd(int remoteKey, long address, long add) {
    requireReliable();
    remote(Kind.FETCH_ADD, fetchAdd, remoteKey, address);
    operand = add;
  }

  /**
   * Begins an atomic compare and swap ({@code ibv_wr_atomic_cmp_swp}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   * @param expected what must be there
   * @param swap what to put there then
   */
  public void compareSwap(int remoteKey, long address, long expected, long swap) {
    requireReliable();
    remote(Kind.COMPARE_SWAP, compareSwap, remoteKey, address);
    operand = expected;
    swapOperand = swap;
  }

  private void requireConnected() {
    if (type() == Type.UD) {
      throw new UnsupportedOperationException("datagrams cannot reach remote memory");
    }
  }

  private void requireReliable() {
    if (type() != Type.RC) {
      throw new UnsupportedOperationException("an " + type() + " queue pair cannot do this");
    }
  }

  /**
   * Gives the request a piece of local memory ({@code ibv_wr_set_sge}); needed once, before the
   * next request.
   *
   * @param region of the same protection domain
   * @param offset where in the region
   * @param bytes how much
   */
  public void piece(MemoryRegion region, long offset, int bytes) {
    data(region);
    long from = region.addressOf(offset, bytes);
    issue(0);
    IbvOps.wrSetSge(setSge, extended, region.localKey(), from, bytes);
  }

  /**
   * Gives the request data that is copied now ({@code ibv_wr_set_inline_data}).
   *
   * @param region of the same protection domain
   * @param offset where in the region
   * @param bytes how much, at most {@link #inlineBytes}
   */
  public void inline(MemoryRegion region, long offset, int bytes) {
    data(region);
    Bits.inRange(bytes, 0, inlineBytes(), "the number of bytes inline");
    long from = region.placeOf(offset, bytes);
    issue(VerbsConstants.IBV_SEND_INLINE);
    IbvOps.wrSetInlineData(setInline, extended, from, bytes);
  }

  private void data(MemoryRegion region) {
    requireBatch();
    if (!dataMissing) {
      throw new IllegalStateException("no request has begun that needs data");
    }
    domain().require(region.domain(), "memory region");
  }

  /**
   * Gives a datagram its destination ({@code ibv_wr_set_ud_addr}).
   *
   * @param handle of the same protection domain
   * @param number of the queue pair there
   * @param key of the queue pair there
   */
  public void to(AddressHandle handle, int number, int key) {
    requireBatch();
    if (type() != Type.UD) {
      throw new IllegalStateException("an " + type() + " queue pair is connected");
    }
    if (begun == 0) {
      throw new IllegalStateException("no request has begun that needs a destination");
    }
    domain().require(handle.domain(), "address handle");
    long ignored = handle.pointer();
    addressed = true;
    destination = handle;
    destinationNumber = number;
    destinationKey = key;
    if (!dataMissing) {
      setDestination();
    }
  }

  /**
   * Posts the batch ({@code ibv_wr_complete}).
   *
   * @return 0; or a negated error number, and nothing is posted
   */
  public int complete() {
    requireBatch();
    if (dataMissing) {
      throw new IllegalStateException("the last request has no data: see piece() and inline()");
    }
    requireAddressed();
    int count = begun;
    inBatch = false;
    int status = IbvOps.wrComplete(complete, extended);
    sent(count, status == 0);
    return -Math.abs(status); // some providers negate it themselves
  }

  /** Drops the batch ({@code ibv_wr_abort}). */
  public void abort() {
    requireBatch();
    int count = begun;
    inBatch = false;
    IbvOps.wrStart(abort, extended);
    sent(count, false);
  }
}
