// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.counters.Recorded;
import io.talaria.messaging.dispatch.Task;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;

/**
 * A request under way. Who wins {@link #collected} takes the response, and nobody else. Until it is
 * answered it has a slot; after that {@link #sweep} brings what is not collected here.
 */
final class PendingResponse<A> implements ResponseFuture<A> {
  private final LocalNode node;
  private final RemotePeer peer;
  private final ResponseSlot slot;
  private final int generation;
  private final Class<A> type;
  private final long deadlineNs;

  /** Who asked has looked for the response already, for as long as that is worth it. */
  private final boolean looked;

  /** Its slot is swept; not that of a thread which waits for it to the end. */
  private final boolean swept;

  private final AtomicBoolean collected = new AtomicBoolean();

  /** Written before the slot is given up; null: there was no response in time. */
  private ResponseSlot.Kept kept;

  /** A thread that waits for a request which is swept. */
  private volatile Thread waiter;

  /** Who wants to be told, the last one first; or null. */
  private volatile Ending endings;

  PendingResponse(
      LocalNode node,
      RemotePeer peer,
      ResponseSlot slot,
      int generation,
      Class<A> type,
      long deadlineNs,
      boolean looked,
      boolean swept) {
    this.looked = looked;
    this.swept = swept;
    this.node = node;
    this.peer = peer;
    this.slot = slot;
    this.generation = generation;
    this.type = type;
    this.deadlineNs = deadlineNs;
  }

  long deadlineNs() {
    return deadlineNs;
  }

  /** Waits to the request's own end. */
  A result() throws MessagingException {
    try {
      waitUntil(deadlineNs);
      return collect();
    } finally {
      if (!collected.get()) { // something was thrown before that
        cancel();
      }
    }
  }

  @Override
  public boolean isDone() {
    return collected.get() || slot.ended(generation) || System.nanoTime() - deadlineNs >= 0;
  }

  @Override
  public A await(Duration timeout) throws MessagingException {
    ThreadContext.current().mayWait();
    if (collected.get()) {
      throw new IllegalStateException("the response was taken, or the request was cancelled");
    }
    long until = System.nanoTime() + RemotePeer.nanos(timeout);
    boolean last = until - deadlineNs >= 0;
    if (!waitUntil(last ? deadlineNs : until) && !last) {
      return null;
    }
    return collect();
  }

  /** Whether it has ended. */
  private boolean waitUntil(long untilNs) throws MessagingException {
    if (slot.ended(generation)) {
      return true;
    }
    boolean handler = node.beginWait();
    Object recorded = Recorded.begin();
    try {
      Connection on = slot.connection;
      boolean looks = !looked && on != null && !Thread.currentThread().isVirtual();
      if (looks && on.leading().lead(slot, generation)) {
        return true;
      }
      if (swept) {
        waiter = Thread.currentThread(); // the slot may be another's before it is seen
      } else {
        slot.await(Thread.currentThread());
      }
      VarHandle.fullFence();
      while (!slot.ended(generation)) {
        long left = untilNs - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        LockSupport.parkNanos(left);
        if (Thread.currentThread().isInterrupted()) {
          cancel();
          throw new MessagingException(
              Code.CANCELLED, "the thread was interrupted while it waited for a response");
        }
      }
      return true;
    } finally {
      node.endWait(handler);
      Recorded.waited(recorded, "response", peer.id());
    }
  }

  /** Takes the response, or gives the request up: its time is over. */
  private A collect() throws MessagingException {
    if (!collected.compareAndSet(false, true)) {
      throw new IllegalStateException("the response was taken, or the request was cancelled");
    }
    if (slot.giveUp(generation)) {
      giveBack();
      throw timedOut();
    }
    ThreadContext context = ThreadContext.current();
    boolean inSlot = takeFromSlot();
    if (swept) {
      tellEnd(); // who has filled it may come too late to find this
    }
    if (!inSlot) {
      ResponseSlot.Kept result = kept;
      kept = null;
      if (result == null) {
        throw timedOut();
      }
      return type.cast(result.take(context, type));
    }
    try {
      return type.cast(slot.take(generation, context, type));
    } finally {
      node.responseSlots().giveBack(slot);
    }
  }

  private MessagingException timedOut() {
    return new MessagingException(
        Code.TIMED_OUT, "node " + peer.id() + " has not answered within the timeout");
  }

  /** Once it is not open any more: whether the slot has its end, for the caller to take. */
  private boolean takeFromSlot() {
    while (!(swept ? slot.beginTake(generation) : slot.done(generation))) {
      if (slot.gone(generation)) {
        return false;
      }
      Thread.onSpinWait(); // being filled, or brought here
    }
    return true;
  }

  private void giveBack() {
    Connection on = slot.connection;
    node.responseSlots().giveBack(slot);
    if (on != null && !on.dead()) {
      on.control(Records.CANCEL, slot.index, generation);
    }
    tellEnd();
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
    if (takeFromSlot()) {
      slot.free(generation);
      node.responseSlots().giveBack(slot);
    } else {
      kept = null;
    }
    tellEnd();
    return false;
  }

  /**
   * Gives its slot back if it is answered, with what is in it coming here, or if its time is over.
   * Any thread; for {@link ResponseSlots}, which has found it in the slot.
   *
   * @return whether somebody is to be told when its time is over
   */
  boolean sweep(long nowNs) {
    try {
      if (slot.done(generation)) {
        ResponseSlot.Kept to =
            new ResponseSlot.Kept(); // before anything that would have to be undone
        if (slot.beginTake(generation)) {
          slot.handOver(to);
          kept = to;
          slot.free(generation);
          node.responseSlots().giveBack(slot);
          wake(); // as above
        }
        return false;
      }
      if (nowNs - deadlineNs < 0) {
        return endings != null;
      }
      if (slot.giveUp(generation)) {
        giveBack();
        wake();
      }
    } catch (Throwable e) { // of this one; others have their turn
      node.internal("a response that was not collected", e);
    }
    return false;
  }

  @Override
  public void whenDone(
      Executor executor, BiConsumer<? super A, ? super MessagingException> consumer) {
    Objects.requireNonNull(executor, "executor");
    Objects.requireNonNull(consumer, "consumer");
    synchronized (collected) {
      endings = new Ending(executor, consumer, endings);
    }
    VarHandle.fullFence();
    if (isDone()) {
      tellEnd();
    } else {
      node.responseSlots().sweepAt(deadlineNs);
    }
  }

  /** The request in the slot is done; maybe it was another one. By who has filled it. */
  void ended(int doneGeneration) {
    if (doneGeneration == generation) {
      wake();
    }
  }

  private void wake() {
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    tellEnd();
  }

  private void tellEnd() {
    for (Ending each = endings; each != null; each = each.next) {
      if (each.told.compareAndSet(false, true)) {
        try {
          node.later(each);
        } catch (Throwable e) { // no memory; whoever has filled the slot goes on
          node.failedHere(peer, type.getName(), e);
        }
      }
    }
  }

  /** Somebody who is to be told. */
  private final class Ending implements Task {
    private final Executor executor;
    private final BiConsumer<? super A, ? super MessagingException> consumer;
    private final Ending next;
    private final AtomicBoolean told = new AtomicBoolean();

    Ending(
        Executor executor,
        BiConsumer<? super A, ? super MessagingException> consumer,
        Ending next) {
      this.executor = executor;
      this.consumer = consumer;
      this.next = next;
    }

    @Override
    public void turn() {
      try {
        executor.execute(this::tell);
      } catch (Throwable e) { // it refuses: nobody else takes the response
        node.failedHere(peer, type.getName(), e);
        cancel();
      }
    }

    private void tell() {
      A response = null;
      MessagingException failure = null;
      try {
        response = collect();
      } catch (MessagingException e) {
        failure = e;
      } catch (IllegalStateException e) {
        failure = new MessagingException(Code.CANCELLED, "the request was cancelled");
      }
      try {
        consumer.accept(response, failure);
      } catch (Throwable e) { // the program's; its executor's thread goes on
        node.failedHere(peer, type.getName(), e);
      }
    }
  }
}
