// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Threads that wait for the same thing. Any thread. */
final class Waiters {
  /** Guarded by this. */
  private final List<Thread> threads = new ArrayList<>();

  private volatile int count;

  /** Before looking for the last time: from now on {@link #wake} wakes the calling thread. */
  synchronized void enter() {
    threads.add(Thread.currentThread());
    count = threads.size();
  }

  synchronized void leave() {
    threads.remove(Thread.currentThread());
    count = threads.size();
  }

  boolean none() {
    return count == 0;
  }

  void wake() {
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
