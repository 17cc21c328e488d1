// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The queue of one receiver: one thread puts elements, and at most a given number of handlers take
 * them; one handler keeps the order. What does not fit into the bounded queue may be put beyond it,
 * which allocates. While any element is beyond, none is put into the queue, so all elements in the
 * queue are older than all elements beyond.
 *
 * @param <E> the type of the elements
 */
public final class Mailbox<E> implements Task {
  private static final int TURN = 64;

  private final Handlers handlers;
  private final Consumer<E> consumer;
  private final BoundedQueue<E> queue;
  private final int most;
  private final ConcurrentLinkedQueue<E> beyond = new ConcurrentLinkedQueue<>();

  /**
   * The number of elements in {@link #beyond}. Incremented after an element is added and
   * decremented after it is removed, so 0 means that none is there.
   */
  private final AtomicInteger beyondCount = new AtomicInteger();

  /** The number of turns that are queued or run. */
  private final AtomicInteger turns = new AtomicInteger();

  /**
   * Creates an empty mailbox.
   *
   * @param handlers run the consumer
   * @param consumer receives each element; an exception ends the turn, and the next turn continues
   * @param capacity a power of two
   * @param most the maximum number of handlers at a time; 1 keeps the order
   */
  public Mailbox(Handlers handlers, Consumer<E> consumer, int capacity, int most) {
    this.handlers = handlers;
    this.consumer = consumer;
    queue = new BoundedQueue<>(capacity);
    this.most = most;
  }

  /** Puts an element; false if the queue is full. One thread only. */
  public boolean offer(E element) {
    if (beyondCount.get() != 0 || !queue.offer(element)) {
      return false;
    }
    VarHandle.fullFence(); // publish, then look; as turn() does
    schedule(false);
    return true;
  }

  /** Puts an element that {@link #offer} has refused. The caller bounds their number. */
  public void offerBeyond(E element) {
    beyond.add(element);
    beyondCount.incrementAndGet();
    VarHandle.fullFence();
    schedule(false);
  }

  private E next() {
    E next = queue.poll();
    if (next == null && beyondCount.get() != 0) {
      next = queue.poll(); // older than all beyond, and nothing is put there now
      if (next == null) {
        next = beyond.poll();
        if (next != null) {
          beyondCount.decrementAndGet();
        }
      }
    }
    return next;
  }

  /**
   * Queues a turn, unless as many as may be are queued or run.
   *
   * @param again whether this thread is a handler at the end of a turn, which looks for a task next
   */
  private void schedule(boolean again) {
    for (int now = turns.get(); now < most; now = turns.get()) {
      if (turns.compareAndSet(now, now + 1)) {
        try {
          if (again) {
            handlers.runNext(this);
          } else {
            handlers.run(this);
          }
        } catch (Throwable e) { // no memory to queue it: the next put tries again
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
    } finally { // the remaining elements need a turn, even after an exception
      turns.decrementAndGet();
      VarHandle.fullFence();
      if (!isEmpty()) {
        schedule(true);
      }
    }
  }

  /** Whether no element waits; elements that a handler has taken do not count. */
  public boolean isEmpty() {
    return queue.isEmpty() && beyondCount.get() == 0;
  }

  /** The approximate number of elements that wait. */
  public int size() {
    return queue.size() + beyondCount.get();
  }
}
