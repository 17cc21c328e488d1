// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * What waits for one receiver: one thread puts, and as many handlers as allowed take, one for
 * order. What finds no place may be put beyond them, where it takes objects; as long as anything is
 * there nothing is put into the places, so all in the places came before all that is beyond.
 *
 * @param <E> what waits
 */
public final class Mailbox<E> implements Task {
  private static final int TURN = 64;

  private final Handlers handlers;
  private final Consumer<E> consumer;
  private final BoundedQueue<E> queue;
  private final int most;
  private final ConcurrentLinkedQueue<E> beyond = new ConcurrentLinkedQueue<>();

  /** How many are beyond: counted after they are there, and until they are taken. */
  private final AtomicInteger beyondCount = new AtomicInteger();

  /** How many turns are queued or under way. */
  private final AtomicInteger turns = new AtomicInteger();

  /**
   * Makes an empty one.
   *
   * @param handlers run it
   * @param consumer takes each; what it throws ends the turn, and the next one begins
   * @param capacity a power of two
   * @param most how many handlers at a time; 1 keeps the order
   */
  public Mailbox(Handlers handlers, Consumer<E> consumer, int capacity, int most) {
    this.handlers = handlers;
    this.consumer = consumer;
    queue = new BoundedQueue<>(capacity);
    this.most = most;
  }

  /** Puts; false if it is full. One thread. */
  public boolean offer(E element) {
    if (beyondCount.get() != 0 || !queue.offer(element)) {
      return false;
    }
    VarHandle.fullFence(); // publish, then look; as turn() does
    schedule();
    return true;
  }

  /** Puts what {@link #offer} has refused; who puts sees to it that it is not too much. */
  public void offerBeyond(E element) {
    beyond.add(element);
    beyondCount.incrementAndGet();
    VarHandle.fullFence();
    schedule();
  }

  private E next() {
    E next = queue.poll();
    if (next == null && beyondCount.get() != 0) {
      next = queue.poll(); // what came before: nothing comes there now
      if (next == null) {
        next = beyond.poll();
        if (next != null) {
          beyondCount.decrementAndGet();
        }
      }
    }
    return next;
  }

  private void schedule() {
    for (int now = turns.get(); now < most; now = turns.get()) {
      if (turns.compareAndSet(now, now + 1)) {
        try {
          handlers.run(this);
        } catch (Throwable e) { // no memory: what is put is put, and the next one tries again
          turns.decrementAndGet();
          handlers.failed(e);
        }
        return;
      }
    }
  }

  @Override
  public void turn() {
    try {
      for (int i = 0; i < TURN; i++) {
        E next = next();
        if (next == null) {
          break;
        }
        consumer.accept(next);
      }
    } finally { // whatever is thrown, the rest has its turn
      turns.decrementAndGet();
      VarHandle.fullFence();
      if (!isEmpty()) {
        schedule();
      }
    }
  }

  /** Whether nothing waits; what a handler has in hand does not count. */
  public boolean isEmpty() {
    return queue.isEmpty() && beyondCount.get() == 0;
  }

  /** How many wait, about. */
  public int size() {
    return queue.size() + beyondCount.get();
  }
}
