// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.ResponseFuture;
import io.talaria.messaging.counters.Recorded;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Task;
import io.talaria.messaging.dispatch.Waiters;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.engine.ResponseSlot;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;

/**
 * The future of one request. Any thread.
 *
 * <p>Invariant: only the thread that sets {@link #collected} takes the response or cancels the
 * request. The request has a {@link ResponseSlot} until it is done; then {@link #sweep} moves a
 * response that was not collected into this object, and frees the slot.
 */
final class PendingResponse<A> implements ResponseFuture<A>, ResponseSlot.Owner {
  private final LocalNode node;
  private final RemotePeer peer;
  private final ResponseSlot slot;
  private final int generation;
  private final Class<A> type;
  private final long deadlineNs;

  /** Whether the requesting thread has already polled for the response: it need not do so again. */
  private final boolean looked;

  /**
   * Whether {@link #sweep} may free the slot. False if the requesting thread itself waits for the
   * response, as it then frees the slot in any case.
   */
  private final boolean swept;

  private final AtomicBoolean collected = new AtomicBoolean();

  /** The response, written before its slot is freed; null if none came within the timeout. */
  private ResponseSlot.Kept kept;

  /** The threads that wait for a request whose slot may be swept; null until one does. */
  private volatile Waiters waiters;

  /** A linked list of the consumers to call at the end, the last added first; or null. */
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

  @Override
  public long deadlineNs() {
    return deadlineNs;
  }

  /** Waits for the response until the request's own timeout. */
  A result() throws MessagingException {
    try {
      waitUntil(deadlineNs);
      return collect();
    } finally {
      if (!collected.get()) { // waiting has thrown
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

  /** Waits for the end of the request; false if the time has passed first. */
  private boolean waitUntil(long untilNs) throws MessagingException {
    if (slot.ended(generation)) {
      return true;
    }
    Handlers own = Handlers.beginWait();
    Object recorded = Recorded.begin();
    Waiters entered = null;
    try {
      Connection on = slot.connection;
      boolean looks = !looked && on != null && !Thread.currentThread().isVirtual();
      if (looks && on.leading().lead(slot, generation, untilNs - System.nanoTime())) {
        return true;
      }
      if (swept) {
        entered = waiters(); // not in the slot, which may serve another request soon
        entered.enter();
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
      if (entered != null) {
        entered.leave();
      }
      Handlers.endWait(own);
      Recorded.waited(recorded, "response", peer.id());
    }
  }

  private Waiters waiters() {
    synchronized (collected) {
      if (waiters == null) {
        waiters = new Waiters();
      }
      return waiters;
    }
  }

  /** Takes the response; if there is none, gives the request up, as its timeout has passed. */
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
      // Others must learn that the response is gone. The thread that has filled the slot may not
      // tell them: by the time it reads the slot's owner, the slot may be free or reused.
      wake();
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

  /**
   * Waits for a request that is no longer open to leave its transient states. True if the slot has
   * the response, for the caller only; false if {@link #sweep} has freed the slot, after moving a
   * response to {@link #kept}.
   */
  private boolean takeFromSlot() {
    while (!(swept ? slot.beginTake(generation) : slot.done(generation))) {
      if (slot.gone(generation)) {
        return false;
      }
      Thread.onSpinWait(); // another thread fills the slot, or sweeps it
    }
    return true;
  }

  /** Frees the slot of a request that was given up, and tells all that it has ended. */
  private void giveBack() {
    Connection on = slot.connection;
    node.responseSlots().giveBack(slot);
    if (on != null && !on.dead()) {
      on.control(Records.CANCEL, slot.index, generation);
    }
    wake();
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
    wake();
    return false;
  }

  @Override
  public boolean sweep(long nowNs) {
    try {
      if (slot.done(generation)) {
        ResponseSlot.Kept to =
            new ResponseSlot.Kept(); // allocate before beginTake, which could not be undone
        if (slot.beginTake(generation)) {
          slot.handOver(to);
          kept = to;
          slot.free(generation);
          node.responseSlots().giveBack(slot);
          wake(); // the thread that has filled the slot may come too late, as in collect()
        }
        return false;
      }
      if (nowNs - deadlineNs < 0) {
        return endings != null;
      }
      if (slot.giveUp(generation)) {
        giveBack();
      }
    } catch (Throwable e) { // must not keep other requests from being swept
      node.events().internal("a response that was not collected", e);
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

  /**
   * Wakes the waiters and calls the consumers if the request that is done is this one, as the slot
   * may have been reused.
   */
  @Override
  public void ended(int doneGeneration) {
    if (doneGeneration == generation) {
      wake();
    }
  }

  private void wake() {
    Waiters all = waiters;
    if (all != null) {
      all.wake();
    }
    tellEnd();
  }

  private void tellEnd() {
    for (Ending each = endings; each != null; each = each.next) {
      if (each.told.compareAndSet(false, true)) {
        try {
          node.handlers().run(each);
        } catch (Throwable e) { // no memory: must not disturb the thread that has filled the slot
          node.events().failed(peer, type.getName(), e);
        }
      }
    }
  }

  /** A consumer that {@link #whenDone} has registered, and its executor. */
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

    /** When a node closes, its open requests end just before its handlers, or after them. */
    @Override
    public boolean outlivesHandlers() {
      return true;
    }

    @Override
    public void turn() {
      try {
        executor.execute(this::tell);
      } catch (Throwable e) { // the executor refuses: drop the response
        node.events().failed(peer, type.getName(), e);
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
      } catch (Throwable e) { // the program's: keep it from the executor's thread
        node.events().failed(peer, type.getName(), e);
      }
    }
  }
}
