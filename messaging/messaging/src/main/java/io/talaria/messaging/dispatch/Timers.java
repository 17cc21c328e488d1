// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Tasks with a time. Any thread adds them, one thread runs them. */
public final class Timers {
  private record Timer(long timeNs, long order, Runnable task) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(timeNs - other.timeNs, 0);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final AtomicLong order = new AtomicLong();

  /** Guarded by itself. */
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();

  private final Runnable wakeup;

  /**
   * Creates it without tasks.
   *
   * @param wakeup makes the thread that runs the tasks look for new ones; by any thread
   */
  public Timers(Runnable wakeup) {
    this.wakeup = wakeup;
  }

  /**
   * Adds a task.
   *
   * @param timeNs when it is due, as of {@link System#nanoTime}
   */
  public void at(long timeNs, Runnable task) {
    synchronized (timers) {
      timers.add(new Timer(timeNs, order.getAndIncrement(), task));
    }
    wakeup.run();
  }

  /** How many tasks were added so far. */
  public long added() {
    return order.get();
  }

  /**
   * Runs what is due.
   *
   * @param maxNs the longest time to return, in nanoseconds
   * @return the time until the next task is due, in milliseconds, at least 1
   */
  public long runDue(long maxNs) {
    while (true) {
      Timer next;
      synchronized (timers) {
        next = timers.peek();
        long left = next == null ? maxNs : next.timeNs - System.nanoTime();
        if (left > 0) {
          return Math.max(1, left / 1_000_000);
        }
        timers.poll();
      }
      next.task.run();
    }
  }
}
