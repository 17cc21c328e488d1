// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A set of threads that wait for the same condition. Any thread. */
public final class Waiters {
  /** Guarded by this. */
  private final List<Thread> threads = new ArrayList<>();

  private volatile int count;

  /**
   * Adds the calling thread. Call this before the last check of the condition: {@link #wake} wakes
   * the thread from then on, so that a change after that check is not missed.
   */
  public synchronized void enter() {
    threads.add(Thread.currentThread());
    count = threads.size();
  }

  public synchronized void leave() {
    threads.remove(Thread.currentThread());
    count = threads.size();
  }

  public boolean none() {
    return count == 0;
  }

  public void wake() {
    if (count != 0) {
      wakeAll();
    }
  }

  private synchronized void wakeAll() {
    for (int i = 0; i < threads.size(); i++) {
      LockSupport.unpark(threads.get(i));
    }
  }
}
