// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs;
import io.talaria.verbs.binding.VerbsStructs.AhAttr;
import io.talaria.verbs.binding.VerbsStructs.ContextOps;
import io.talaria.verbs.binding.VerbsStructs.Cq;
import io.talaria.verbs.binding.VerbsStructs.ModifyCqAttr;
import io.talaria.verbs.binding.VerbsStructs.Wc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Where requests say that they are done ({@code ibv_cq}). Owned by its context; queue pairs that
 * use it must be closed first. One thread polls at a time.
 *
 * <p>A queue that overflows is lost with all that is in it. So each queue pair <em>reserves</em> as
 * many entries as it can have requests under way, and one that does not fit is refused. What a
 * closed queue pair has reserved is free again once the queue was polled until it was empty.
 */
public sealed class CompletionQueue extends NativeObject permits ExtendedCompletionQueue {
  /** One empty poll of this many is a plain call, at which the JVM can stop the thread. */
  private static final int PLAIN_EVERY = 256; // a power of two

  private static final int MAX_ENTRIES = 1 << 24;

  private final Context context;
  private final CompletionChannel channel;
  private final QueuePairTable queuePairs;

  /** {@code poll_cq} and {@code req_notify_cq} of the context. */
  private final MemorySegment pollCq;

  private final MemorySegment reqNotifyCq;

  /** How many requests may be under way. Guarded by this. */
  private int capacity;

  private int reserved;

  /** Of closed queue pairs, until the queue was seen empty. Written under the lock. */
  private int retiring;

  /** How often each shared receive queue reserves. Guarded by this. */
  private final Map<SharedReceiveQueue, Integer> shared = new HashMap<>();

  /** The shared receive queue, if there has only been one. Written under the lock. */
  private volatile SharedReceiveQueue soleShared;

  private boolean severalShared;

  /** Whether sends complete here, or have. Set before the first one can. */
  private volatile boolean sends;

  /** Confined to the thread that polls. */
  private int emptyPolls;

  /**
   * The thread that has begun to read an extended queue, whose lock the provider may hold then; or
   * null. Plain: only the thread itself can have put itself here, and sees what it has put.
   */
  Thread reader;

  CompletionQueue(String kind, Context context, CompletionChannel channel) {
    super(kind, channel == null ? owners(context) : owners(context, channel));
    this.context = context;
    this.channel = channel;
    queuePairs = context.queuePairs();
    long ops = context.pointer() + VerbsStructs.Context.OPS;
    pollCq = IbvOps.pointerAt(ops + ContextOps.POLL_CQ);
    reqNotifyCq = IbvOps.pointerAt(ops + ContextOps.REQ_NOTIFY_CQ);
  }

  private static NativeObject[] owners(NativeObject... owners) {
    return owners;
  }

  static CompletionQueue open(Context context, int entries, CompletionChannel channel, int vector) {
    check(context, entries, channel);
    Bits.inRange(vector, 0, context.completionVectors() - 1, "the completion vector");
    CompletionQueue queue = new CompletionQueue("completion queue", context, channel);
    long pointer =
        Ibv.createCq(
            context.pointer(), entries, 0, channel == null ? 0 : channel.pointer(), vector);
    queue.created(pointer, "ibv_create_cq of " + entries + " entries");
    return queue;
  }

  static void check(Context context, int entries, CompletionChannel channel) {
    Bits.inRange(entries, 1, MAX_ENTRIES, "the number of completions");
    if (channel != null) {
      context.require(channel.context(), "completion channel");
    }
  }

  final void created(long pointer, String what) {
    if (pointer < 0) {
      abandoned();
      throw new VerbsException((int) pointer, what);
    }
    capacity = Raw.half(pointer + Cq.CQE);
    if (channel != null) {
      channel.add(pointer, this);
    }
    context.register(pointer, this);
    opened(pointer);
  }

  /**
   * The context it belongs to.
   *
   * @return the context
   */
  public final Context context() {
    return context;
  }

  /**
   * How many completions it holds; at least what was asked for.
   *
   * @return a number
   */
  public final synchronized int capacity() {
    return capacity;
  }

  /**
   * How many entries queue pairs have reserved, open ones and closed ones that may still have
   * something in the queue.
   *
   * @return a number
   */
  public final synchronized int reserved() {
    return reserved;
  }

  /**
   * Takes completions ({@code ibv_poll_cq}). Does not block, allocates nothing.
   *
   * @param into is filled from its start
   * @return how many there are now; 0: none; negative: the queue is lost
   */
  public final int poll(Completions into) {
    long queue = pointer();
    requireNotReading();
    int closing = retiring;
    int entries =
        (emptyPolls & PLAIN_EVERY - 1) == PLAIN_EVERY - 1
            ? IbvOps.pollCqPlain(pollCq, queue, into.capacity(), into.address())
            : IbvOps.pollCq(pollCq, queue, into.capacity(), into.address());
    into.filled(entries);
    if (entries > 0) {
      emptyPolls = 0;
      long wc = into.address();
      completed(wc); // by itself, as in QueuePair.post
      for (int i = 1; i < entries; i++) {
        wc += Wc.SIZE;
        completed(wc);
      }
    } else {
      emptyPolls++;
    }
    if (closing != 0 && entries >= 0 && entries < into.capacity()) {
      drained(closing);
    }
    return entries;
  }

  final void requireNotReading() {
    if (reader != null) {
      throw readingHasBegun();
    }
  }

  /**
   * For what may be done while another thread reads: a provider lets it wait for the lock of the
   * queue, and the thread that has the lock would wait for itself.
   */
  final void requireNotReadByThisThread() {
    if (reader == Thread.currentThread()) {
      throw readingHasBegun();
    }
  }

  private static IllegalStateException readingHasBegun() {
    return new IllegalStateException("reading has begun already: see end()");
  }

  private void completed(long wc) {
    completed(Raw.half(wc + Wc.QP_NUM), Raw.half(wc + Wc.STATUS), Raw.half(wc + Wc.OPCODE));
  }

  /** Frees the place of what is done. */
  final void completed(int number, int status, int opcode) {
    QueuePair queuePair = queuePairs.find(number);
    if (queuePair != null) {
      queuePair.completed(this, status, opcode);
    } else if (!sends || (status == Status.SUCCESS && (opcode & Opcode.RECEIVE) != 0)) {
      // Of a queue pair that is closed by now: what it has received by a shared queue is taken.
      SharedReceiveQueue queue = soleShared;
      if (queue != null) {
        queue.completed();
      }
    }
  }

  final int closing() {
    return retiring;
  }

  final synchronized void drained(int closing) {
    int freed = Math.min(closing, retiring);
    retiring -= freed;
    reserved -= freed;
  }

  /**
   * Asks for an event and looks once more ({@code ibv_req_notify_cq}, then a poll): the only safe
   * way to sleep. Does not block.
   *
   * <pre>{@code
   * while ((n = queue.poll(completions)) == 0) {
   *   if ((n = queue.arm(false, completions)) != 0) break;
   *   channel.await(-1);
   *   channel.take();
   * }
   * }</pre>
   *
   * @param solicitedOnly whether only messages sent as solicited, and errors, give an event
   * @param into is filled from its start
   * @return as {@link #poll}; if it is 0, and only then, there will be an event at the channel
   * @throws VerbsException if the library refuses
   * @throws IllegalStateException if the queue has no channel
   */
  public final int arm(boolean solicitedOnly, Completions into) {
    if (channel == null) {
      throw new IllegalStateException("the completion queue has no channel to sleep for");
    }
    requireNotReading();
    int status = IbvOps.reqNotifyCq(reqNotifyCq, pointer(), solicitedOnly ? 1 : 0);
    if (status != 0) {
      throw new VerbsException(status, "ibv_req_notify_cq");
    }
    return poll(into);
  }

  /**
   * Changes how many completions it holds ({@code ibv_resize_cq}).
   *
   * @param entries at least 1, and not fewer than are reserved
   * @throws VerbsException if the device cannot do it
   * @throws IllegalStateException if this thread is reading the queue
   */
  public final synchronized void resize(int entries) {
    requireNotReadByThisThread();
    Bits.inRange(entries, Math.max(1, reserved), MAX_ENTRIES, "the number of completions");
    VerbsException.check(Ibv.resizeCq(pointer(), entries), "ibv_resize_cq to " + entries);
    capacity = Math.max(entries, Raw.half(pointer() + Cq.CQE));
  }

  /**
   * Lets events wait until several completions are there ({@code ibv_modify_cq}).
   *
   * @param count how many completions, from 0 to 65535
   * @param periodUs or how long, in microseconds, from 0 to 65535
   * @throws VerbsException if the device cannot do it
   */
  public final void moderate(int count, int periodUs) {
    Bits.inRange(count, 0, 0xffff, "the number of completions");
    Bits.inRange(periodUs, 0, 0xffff, "the period");
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, ModifyCqAttr.STRUCT).address();
      Raw.half(at + ModifyCqAttr.ATTR_MASK, VerbsConstants.IBV_CQ_ATTR_MODERATE);
      Raw.half(at + ModifyCqAttr.MODERATE_CQ_COUNT, Bits.pair(count, periodUs));
      VerbsException.check(IbvOps.modifyCq(context.pointer(), pointer(), at), "ibv_modify_cq");
    }
  }

  /**
   * How to answer a datagram ({@code ibv_init_ah_from_wc}).
   *
   * @param port of this host that it came by, from 1
   * @param completions has the completion of the datagram
   * @param index which one it is
   * @param region where it was received
   * @param offset where its buffer starts in the region: the route is in the first 40 bytes
   * @return the way back
   * @throws VerbsException if the library cannot tell
   */
  public final AddressVector replyTo(
      int port, Completions completions, int index, MemoryRegion region, long offset) {
    Bits.inRange(port, 1, 255, "the port");
    context.require(region.domain().context(), "memory region");
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, AhAttr.STRUCT).address();
      VerbsException.check(
          Ibv.initAhFromWc(
              context.pointer(),
              port,
              completions.entry(index),
              region.placeOf(offset, VerbsStructs.Grh.SIZE),
              at),
          "ibv_init_ah_from_wc");
      return AddressVector.at(at);
    }
  }

  final synchronized void reserve(int entries) {
    long ignored = pointer();
    if (entries > capacity - reserved) {
      throw new IllegalStateException(
          "the completion queue holds "
              + capacity
              + " entries, "
              + reserved
              + " are reserved, and "
              + entries
              + " more are needed: open a longer one"
              + (retiring > 0 ? ", or poll it until it is empty" : ""));
    }
    reserved += entries;
  }

  final synchronized void reserve(SharedReceiveQueue queue) {
    int users = shared.getOrDefault(queue, 0);
    if (users == 0) {
      reserve(queue.capacity());
    }
    if (soleShared == null && !severalShared) {
      soleShared = queue;
    } else if (soleShared != queue) {
      severalShared = true;
      soleShared = null;
    }
    shared.put(queue, users + 1);
  }

  final synchronized void release(int entries) {
    retiring += entries;
  }

  final synchronized void release(SharedReceiveQueue queue) {
    int users = shared.getOrDefault(queue, 0);
    if (users <= 1) {
      shared.remove(queue);
      release(queue.capacity());
    } else {
      shared.put(queue, users - 1);
    }
  }

  /** Sends of a queue pair will complete here. */
  final void takesSends() {
    sends = true;
  }

  /** Takes a reservation back that was never used. */
  final synchronized void unreserve(int entries) {
    reserved -= entries;
  }

  @Override
  final int destroy(long address) {
    context.unregister(address, this);
    if (channel != null) {
      // No thread takes its last events any more: what is left in the pipe is dropped by address.
      channel.remove(address);
    }
    int status = Ibv.destroyCq(address);
    if (status < 0) {
      context.register(address, this);
      if (channel != null) {
        channel.add(address, this);
      }
    }
    return status;
  }
}
