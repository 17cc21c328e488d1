// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A queue of fixed size for any number of threads at both ends, which neither waits nor allocates.
 * Each place has a number that says whose turn it is: the place's turn number if it is free for the
 * put of that number, one more if it is full for the take of that number.
 *
 * @param <E> what is in it
 */
public final class BoundedQueue<E> {
  private static final VarHandle TURN = MethodHandles.arrayElementVarHandle(long[].class);

  private final Object[] places;
  private final long[] turns;
  private final int mask;
  private final AtomicLong puts = new AtomicLong();
  private final AtomicLong takes = new AtomicLong();

  /**
   * Makes an empty one.
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

  /** Puts at the end; false if it is full. */
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

  /** Takes from the begin; null if it is empty. */
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

  /** Whether nothing is in it, at some moment of the call. */
  public boolean isEmpty() {
    long take = takes.get();
    return (long) TURN.getAcquire(turns, (int) take & mask) < take + 1;
  }

  /** How many are in it, about. */
  public int size() {
    return (int) Math.max(0, puts.get() - takes.get());
  }
}
