// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A queue of fixed size for any number of threads at both ends, which neither waits nor allocates.
 * Each place has a number that says which operation may use it next: put number n if the number is
 * n, take number n if it is n + 1.
 *
 * @param <E> the type of the elements
 */
public final class BoundedQueue<E> {
  private static final VarHandle TURN = MethodHandles.arrayElementVarHandle(long[].class);

  private final Object[] places;
  private final long[] turns;
  private final int mask;
  private final AtomicLong puts = new AtomicLong();
  private final AtomicLong takes = new AtomicLong();

  /**
   * Creates an empty queue.
   *
   * @param capacity a power of two
   */
  public BoundedQueue(int capacity) {
    if (Integer.bitCount(capacity) != 1 || capacity < 2) {
      throw new IllegalArgumentException("capacity is " + capacity + ", not a power of two");
    }
    places = new Object[capacity];
    turns = new long[capacity];
    mask = capacity - 1;
    for (int i = 0; i < capacity; i++) {
      turns[i] = i;
    }
  }

  /** Appends an element; false if the queue is full. */
  public boolean offer(E element) {
    for (; ; ) {
      long put = puts.get();
      int at = (int) put & mask;
      long turn = (long) TURN.getAcquire(turns, at);
      if (turn == put) {
        if (puts.compareAndSet(put, put + 1)) {
          places[at] = element;
          TURN.setRelease(turns, at, put + 1);
          return true;
        }
      } else if (turn < put) {
        return false;
      }
      Thread.onSpinWait();
    }
  }

  /** Removes the first element; null if the queue is empty. */
  @SuppressWarnings("unchecked")
  public E poll() {
    for (; ; ) {
      long take = takes.get();
      int at = (int) take & mask;
      long turn = (long) TURN.getAcquire(turns, at);
      if (turn == take + 1) {
        if (takes.compareAndSet(take, take + 1)) {
          E element = (E) places[at];
          places[at] = null;
          TURN.setRelease(turns, at, take + mask + 1);
          return element;
        }
      } else if (turn < take + 1) {
        return null;
      }
      Thread.onSpinWait();
    }
  }

  /** Whether the queue was empty at some moment of the call. */
  public boolean isEmpty() {
    long take = takes.get();
    return (long) TURN.getAcquire(turns, (int) take & mask) < take + 1;
  }

  /**
   * The number of elements: exact while nothing is put or taken; otherwise not more than there were
   * at the beginning of the call.
   */
  public int size() {
    long put = puts.get(); // before takes, which go on
    return (int) Math.max(0, put - takes.get());
  }
}
