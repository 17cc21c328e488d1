// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Where threads of the program wait for room. A thread that makes room calls {@link #open}, which
 * costs only a fence if no thread waits.
 */
final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();

  /** Written under the lock; read without, after a fence. */
  private volatile int waiting;

  /** Something has changed. */
  void open() {
    VarHandle.fullFence();
    if (waiting > 0) {
      lock.lock();
      try {
        opened.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Under the lock. */
  private void change(int by) {
    int now = waiting;
    waiting = now + by;
  }

  /** Waits until the condition holds; false: time is over. */
  boolean await(BooleanSupplier condition, long timeoutNs) throws InterruptedException {
    long endNs = System.nanoTime() + timeoutNs;
    lock.lockInterruptibly();
    try {
      change(1);
      VarHandle.fullFence();
      while (!condition.getAsBoolean()) {
        long leftNs = endNs - System.nanoTime();
        if (leftNs <= 0) {
          return false;
        }
        long ignored = opened.awaitNanos(leftNs);
      }
      return true;
    } finally {
      change(-1);
      lock.unlock();
    }
  }
}
