// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs;
import io.talaria.verbs.binding.VerbsStructs.ContextOps;
import io.talaria.verbs.binding.VerbsStructs.SrqAttr;
import io.talaria.verbs.binding.VerbsStructs.SrqInitAttr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Receive requests for several queue pairs ({@code ibv_srq}). Belongs to its protection domain;
 * queue pairs that use it must be closed first. One thread posts at a time.
 */
public final class SharedReceiveQueue extends NativeObject {
  private static final VarHandle TAKEN = taken();
  private static final int MAX_VALUE = 1 << 20;

  private final ProtectionDomain domain;
  private final MemorySegment postSrqRecv;
  private final int capacity;
  private final int pieces;

  /** Confined to the thread that posts. */
  private long posted;

  /** Written by those that poll. */
  @SuppressWarnings("UnusedVariable") // by its handle
  private long taken;

  private SharedReceiveQueue(ProtectionDomain domain, int requests, int pieces) {
    super("shared receive queue", domain);
    this.domain = domain;
    Context context = domain.context();
    postSrqRecv =
        IbvOps.pointerAt(context.pointer() + VerbsStructs.Context.OPS + ContextOps.POST_SRQ_RECV);
    long pointer = 0;
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, SrqInitAttr.STRUCT).address();
      Raw.half(at + SrqInitAttr.ATTR + SrqAttr.MAX_WR, requests);
      Raw.half(at + SrqInitAttr.ATTR + SrqAttr.MAX_SGE, pieces);
      pointer =
          VerbsException.check(
              Ibv.createSrq(domain.pointer(), at), "ibv_create_srq of " + requests + " requests");
      this.pieces = pieces;
      capacity = requests;
      context.register(pointer, this);
      opened(pointer);
    } catch (RuntimeException | Error e) {
      if (pointer != 0) {
        int ignored = Ibv.destroySrq(pointer);
      }
      abandoned();
      throw e;
    }
  }

  private static VarHandle taken() {
    try {
      return MethodHandles.lookup().findVarHandle(SharedReceiveQueue.class, "taken", long.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  static SharedReceiveQueue open(ProtectionDomain domain, int requests, int pieces) {
    Bits.inRange(requests, 1, MAX_VALUE, "the number of requests");
    Bits.inRange(pieces, 1, MAX_VALUE, "the number of pieces");
    return new SharedReceiveQueue(domain, requests, pieces);
  }

  /**
   * Posts receive requests ({@code ibv_post_srq_recv}). Allocates nothing. The requests may be used
   * again at return, their buffers once they are completed.
   *
   * @param requests of the same protection domain
   * @param first the first to post
   * @param count how many, at least 1
   * @return 0; {@link QueuePair#BACK_PRESSURED}, and none is posted; or a negated error number, and
   *     {@link ReceiveRequests#failed} says which was the first that is not posted
   */
  public int post(ReceiveRequests requests, int first, int count) {
    long queue = pointer();
    requests.check(domain, first, count, pieces);
    if (posted + count - (long) TAKEN.getAcquire(this) > capacity) {
      return QueuePair.BACK_PRESSURED;
    }
    long start = requests.cut(first, count);
    int status = IbvOps.post(postSrqRecv, queue, start, requests.failedField());
    int done = requests.joined(status, first, count);
    posted += done;
    return -Math.abs(status); // some providers negate it themselves
  }

  /** One of its requests is completed; by those that poll, one at a time for each queue. */
  void completed() {
    TAKEN.getAndAddRelease(this, 1L);
  }

  /**
   * Asks for {@link AsyncEvent.Type#SHARED_RECEIVE_QUEUE_LIMIT} when fewer requests than this are
   * left ({@code ibv_modify_srq}). The event comes once; then the limit is 0.
   *
   * @param requests from 0, which is no limit, to the capacity
   * @throws VerbsException if the device cannot do it
   */
  public void limit(int requests) {
    Bits.inRange(requests, 0, capacity, "the limit");
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, SrqAttr.STRUCT).address();
      Raw.half(at + SrqAttr.SRQ_LIMIT, requests);
      VerbsException.check(
          Ibv.modifySrq(pointer(), at, VerbsConstants.IBV_SRQ_LIMIT),
          "ibv_modify_srq with a limit of " + requests);
    }
  }

  /**
   * The limit that is set ({@code ibv_query_srq}).
   *
   * @return a number of requests, 0 if none is set
   * @throws VerbsException if the library refuses
   */
  public int limit() {
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, SrqAttr.STRUCT).address();
      VerbsException.check(Ibv.querySrq(pointer(), at), "ibv_query_srq");
      return Raw.half(at + SrqAttr.SRQ_LIMIT);
    }
  }

  /**
   * How many requests it takes.
   *
   * @return what was asked for; the device may hold more
   */
  public int capacity() {
    return capacity;
  }

  /**
   * The domain it belongs to.
   *
   * @return the protection domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  @Override
  int destroy(long address) {
    domain.context().unregister(address, this);
    int status = Ibv.destroySrq(address);
    if (status < 0) {
      domain.context().register(address, this);
    }
    return status;
  }
}
