// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Call;
import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.counters.Recorded;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;

/** A question under way. Who wins {@link #collected} takes the answer, and nobody else. */
final class PendingCall<A> implements Call<A> {
  private final LocalNode node;
  private final RemotePeer peer;
  private final CallSlot slot;
  private final int generation;
  private final Class<A> type;
  private final long deadlineNs;

  /** Who asked has looked for the answer already, for as long as that is worth it. */
  private final boolean looked;

  private final AtomicBoolean collected = new AtomicBoolean();

  PendingCall(
      LocalNode node,
      RemotePeer peer,
      CallSlot slot,
      int generation,
      Class<A> type,
      long deadlineNs,
      boolean looked) {
    this.looked = looked;
    this.node = node;
    this.peer = peer;
    this.slot = slot;
    this.generation = generation;
    this.type = type;
    this.deadlineNs = deadlineNs;
  }

  /** Waits to the call's own end. */
  A result() throws MessagingException {
    boolean unused = waitUntil(deadlineNs);
    return collect();
  }

  @Override
  public boolean isDone() {
    return collected.get()
        || slot.gone(generation)
        || slot.done(generation)
        || System.nanoTime() - deadlineNs >= 0;
  }

  @Override
  public A await(long limitNs) throws MessagingException {
    ThreadContext.current().mayWait();
    if (collected.get()) {
      throw new IllegalStateException("the answer was taken, or the call was cancelled");
    }
    long until = System.nanoTime() + Math.min(limitNs, Long.MAX_VALUE >> 2);
    boolean last = until - deadlineNs >= 0;
    if (!waitUntil(last ? deadlineNs : until) && !last) {
      return null;
    }
    return collect();
  }

  /** Whether it is done. */
  private boolean waitUntil(long untilNs) throws MessagingException {
    if (slot.done(generation)) {
      return true;
    }
    boolean handler = node.beginWait();
    Object recorded = Recorded.begin();
    try {
      Connection on = slot.connection;
      boolean looks = !looked && on != null && !Thread.currentThread().isVirtual();
      if (looks && on.lead(slot, generation)) {
        return true;
      }
      slot.await(Thread.currentThread());
      VarHandle.fullFence();
      while (!slot.done(generation)) {
        long left = untilNs - System.nanoTime();
        if (left <= 0 || slot.gone(generation)) {
          return false;
        }
        LockSupport.parkNanos(left);
        if (Thread.currentThread().isInterrupted()) {
          boolean unused = cancel();
          throw new MessagingException(
              Code.CANCELLED, "the thread was interrupted while it waited for an answer");
        }
      }
      return true;
    } finally {
      node.endWait(handler);
      Recorded.waited(recorded, "answer", peer.id());
    }
  }

  /** Takes the answer, or gives the call up: its time is over. */
  private A collect() throws MessagingException {
    if (!collected.compareAndSet(false, true)) {
      throw new IllegalStateException("the answer was taken, or the call was cancelled");
    }
    if (slot.giveUp(generation)) {
      giveBack();
      throw new MessagingException(
          Code.TIMED_OUT, "node " + peer.id() + " has not answered within the limit");
    }
    while (!slot.done(generation)) {
      Thread.onSpinWait(); // being filled
    }
    try {
      return type.cast(slot.take(generation, ThreadContext.current(), type));
    } finally {
      node.calls().giveBack(slot);
    }
  }

  private void giveBack() {
    Connection on = slot.connection;
    node.calls().giveBack(slot);
    if (on != null && !on.dead()) {
      on.control(Records.CANCEL, slot.index, generation);
    }
  }

  @Override
  public boolean cancel() {
    if (!collected.compareAndSet(false, true)) {
      return false;
    }
    if (slot.giveUp(generation)) {
      giveBack();
      return true;
    }
    while (!slot.done(generation)) {
      Thread.onSpinWait();
    }
    slot.reset(generation);
    node.calls().giveBack(slot);
    return false;
  }

  @Override
  public void whenDone(
      Executor executor, BiConsumer<? super A, ? super MessagingException> consumer) {
    AtomicBoolean once = new AtomicBoolean();
    Runnable then =
        () -> {
          // The call before in this slot may still be telling its end.
          if (isDone() && once.compareAndSet(false, true)) {
            node.later(() -> executor.execute(() -> tell(consumer)));
          }
        };
    slot.whenDone = then;
    VarHandle.fullFence();
    if (isDone()) {
      then.run();
    } else {
      node.at(deadlineNs, then);
    }
  }

  private void tell(BiConsumer<? super A, ? super MessagingException> consumer) {
    A answer = null;
    MessagingException failure = null;
    try {
      answer = collect();
    } catch (MessagingException e) {
      failure = e;
    } catch (IllegalStateException e) {
      failure = new MessagingException(Code.CANCELLED, "the call was cancelled");
    }
    consumer.accept(answer, failure);
  }
}
