// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Errno;
import io.talaria.ffi.Libc;
import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.VerbsStructs.CompChannel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * By which a thread sleeps until a completion queue has something ({@code ibv_comp_channel}). Owned
 * by its context; owns the queues that were opened with it. One thread takes events at a time.
 *
 * <p>Events are acknowledged as they are taken, because a queue with an event that is not
 * acknowledged can never be destroyed. How to sleep: {@link CompletionQueue#arm}.
 */
public final class CompletionChannel extends NativeObject {
  private static final int EAGAIN = 11;
  private static final int EINTR = 4;

  private final Context context;
  private final int descriptor;
  private final Map<Long, CompletionQueue> queues = new ConcurrentHashMap<>();

  /** Where {@link #drop} has the library write; confined to the thread that takes events. */
  private final MemorySegment dropped = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2);

  private final MemorySegment errno = Arena.ofAuto().allocate(Errno.LAYOUT);

  CompletionChannel(Context context) {
    super("completion channel", context);
    this.context = context;
    long pointer = Ibv.createCompChannel(context.pointer());
    if (pointer < 0) {
      abandoned();
      throw new VerbsException((int) pointer, "ibv_create_comp_channel");
    }
    descriptor = Raw.half(pointer + CompChannel.FD);
    Libc.nonBlocking(descriptor);
    opened(pointer);
  }

  /**
   * The context it belongs to.
   *
   * @return the context
   */
  public Context context() {
    return context;
  }

  /**
   * A descriptor that is readable when {@link #take} has something. It belongs to the channel and
   * does not block.
   *
   * @return a file descriptor, for poll or epoll
   */
  public int descriptor() {
    long ignored = pointer();
    return descriptor;
  }

  /**
   * Waits until there is an event. Blocks the thread.
   *
   * @param timeoutMs how long to wait; negative: without limit
   * @return whether there is one; false: time is over
   */
  public boolean await(int timeoutMs) {
    return Libc.awaitReadable(descriptor(), timeoutMs);
  }

  /**
   * Takes an event ({@code ibv_get_cq_event}) and acknowledges it at once ({@code
   * ibv_ack_cq_events}). Does not block. The queue must be armed again before it gives another.
   *
   * @return the queue that has something; nothing if there is no event
   * @throws VerbsException if the device is gone
   */
  public Optional<CompletionQueue> take() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG, 2);
      while (true) {
        int status = Ibv.getCqEvent(pointer(), out.address(), out.address() + 8);
        if (status == -EAGAIN || status == -EINTR) {
          return Optional.empty();
        }
        VerbsException.check(status, "ibv_get_cq_event");
        long address = out.get(ValueLayout.JAVA_LONG, 0);
        CompletionQueue queue = queues.get(address);
        // Until here the queue cannot be destroyed, so the address is its own.
        Ibv.ackCqEvents(address, 1);
        if (queue != null) {
          return Optional.of(queue);
        }
      }
    }
  }

  /**
   * Takes an event as {@link #take} does, and does not say of which queue: for a channel of one
   * queue. Allocates nothing.
   *
   * @return whether there was one
   * @throws VerbsException if the device is gone
   */
  public boolean drop() {
    int status = Ibv.dropCqEvent(pointer(), dropped.address(), errno);
    if (status == -EAGAIN || status == -EINTR) {
      return false;
    }
    VerbsException.check(status, "ibv_get_cq_event");
    return true;
  }

  void add(long address, CompletionQueue queue) {
    queues.put(address, queue);
  }

  void remove(long address) {
    queues.remove(address);
  }

  @Override
  int destroy(long address) {
    return Ibv.destroyCompChannel(address);
  }
}
