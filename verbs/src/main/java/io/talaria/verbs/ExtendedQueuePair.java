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
 * none. Each request is begun by its kind, then gets its data. Blocks can be posted, too.
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

  /** Confined to the thread that posts. -1: not started. */
  private int begun = -1;

  /** A request has a kind, but no data yet. */
  private boolean dataMissing;

  private boolean signaled;

  ExtendedQueuePair(Builder options) {
    super(options, true, 0);
    extended = Ibv.qpToQpEx(pointer());
    if (extended < 0) {
      close();
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
    if (begun >= 0) {
      throw new IllegalStateException("a batch has begun already: see complete() and abort()");
    }
    IbvOps.wrStart(start, extended);
    begun = 0;
    dataMissing = false;
    signaled = false;
  }

  /**
   * Sets the identifier of the next request, and whether it is signalled.
   *
   * @param id what its completion will have
   * @param signal whether it shall have a completion
   */
  public void id(long id, boolean signal) {
    inBatch();
    Raw.word(extended + QpEx.WR_ID, id);
    Raw.half(extended + QpEx.WR_FLAGS, signal ? VerbsConstants.IBV_SEND_SIGNALED : 0);
    signaled = signal;
  }

  private void inBatch() {
    long ignored = pointer();
    if (begun < 0) {
      throw new IllegalStateException("no batch has begun: see start()");
    }
  }

  private void request(MemorySegment function) {
    inBatch();
    if (dataMissing) {
      throw new IllegalStateException("the request before has no data: see piece() and inline()");
    }
    if (function.address() == 0) {
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
  }

  /** Begins a message ({@code ibv_wr_send}). */
  public void send() {
    request(send);
    IbvOps.wrStart(send, extended);
  }

  /**
   * Begins a message with a word for the receiver's completion ({@code ibv_wr_send_imm}).
   *
   * @param immediate 32 bits
   */
  public void sendImmediate(int immediate) {
    request(sendImm);
    IbvOps.wrValue(sendImm, extended, Bits.networkInt(immediate));
  }

  /**
   * Begins a write to remote memory ({@code ibv_wr_rdma_write}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   */
  public void write(int remoteKey, long address) {
    requireConnected(write);
    IbvOps.wrRemote(write, extended, remoteKey, address);
  }

  /**
   * Begins a write that completes a receive request there ({@code ibv_wr_rdma_write_imm}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   * @param immediate 32 bits for that completion
   */
  public void writeImmediate(int remoteKey, long address, int immediate) {
    requireConnected(writeImm);
    IbvOps.wrRemoteImm(writeImm, extended, remoteKey, address, Bits.networkInt(immediate));
  }

  /**
   * Begins a read of remote memory ({@code ibv_wr_rdma_read}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   */
  public void read(int remoteKey, long address) {
    requireReliable(read);
    IbvOps.wrRemote(read, extended, remoteKey, address);
  }

  /**
   * Begins an atomic addition ({@code ibv_wr_atomic_fetch_add}).
   *
   * @param remoteKey as the peer says
   * @param address as the peer says
   * @param add what to add
   */
  public void fetchAdd(int remoteKey, long address, long add) {
    requireReliable(fetchAdd);
    IbvOps.wrFetchAdd(fetchAdd, extended, remoteKey, address, add);
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
    requireReliable(compareSwap);
    IbvOps.wrCompareSwap(compareSwap, extended, remoteKey, address, expected, swap);
  }

  private void requireConnected(MemorySegment function) {
    if (type() == Type.UD) {
      throw new UnsupportedOperationException("datagrams cannot reach remote memory");
    }
    request(function);
  }

  private void requireReliable(MemorySegment function) {
    if (type() != Type.RC) {
      throw new UnsupportedOperationException("an " + type() + " queue pair cannot do this");
    }
    request(function);
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
    IbvOps.wrSetSge(setSge, extended, region.localKey(), region.addressOf(offset, bytes), bytes);
    dataMissing = false;
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
    IbvOps.wrSetInlineData(setInline, extended, region.placeOf(offset, bytes), bytes);
    dataMissing = false;
  }

  private void data(MemoryRegion region) {
    inBatch();
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
    inBatch();
    if (type() != Type.UD) {
      throw new IllegalStateException("an " + type() + " queue pair is connected");
    }
    domain().require(handle.domain(), "address handle");
    IbvOps.wrSetUdAddr(setUdAddr, extended, handle.pointer(), number, key);
  }

  /**
   * Posts the batch ({@code ibv_wr_complete}).
   *
   * @return 0; or a negated error number, and nothing is posted
   */
  public int complete() {
    inBatch();
    if (dataMissing) {
      throw new IllegalStateException("the last request has no data: see piece() and inline()");
    }
    int count = begun;
    begun = -1;
    int status = IbvOps.wrComplete(complete, extended);
    sent(count, status == 0);
    return -status;
  }

  /** Drops the batch ({@code ibv_wr_abort}). */
  public void abort() {
    inBatch();
    int count = begun;
    begun = -1;
    IbvOps.wrStart(abort, extended);
    sent(count, false);
  }
}
