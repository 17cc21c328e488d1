// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock of a rank: one compare-and-swap in, a plain store out. Not reentrant. Its holder can see
 * that others want it, and should let go then: it does not pass in order of coming.
 */
final class EngineLock {
  private static final int FREE = 0;
  private static final int HELD = 1;
  private static final int WANTED = 2;
  private static final int TRIES = 100;

  /**
   * How long to sleep at most, in nanoseconds. A holder that lets go looks for WANTED and then
   * stores FREE; a WANTED between the two is lost, and so is its wake-up.
   */
  private static final long SLEEP_NS = 100_000;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(EngineLock.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile int state;
  private final ConcurrentLinkedQueue<Thread> waiters = new ConcurrentLinkedQueue<>();

  void lock() {
    if (!STATE.compareAndSet(this, FREE, HELD)) {
      lockSlowly();
    }
  }

  private void lockSlowly() {
    for (int i = 0; i < TRIES; i++) {
      if (state == FREE && STATE.compareAndSet(this, FREE, HELD)) {
        return;
      }
      Thread.onSpinWait();
    }
    Thread self = Thread.currentThread();
    waiters.add(self);
    boolean interrupted = false;
    // A thread that leaves the queue cannot know whether others are in it, so it sets WANTED.
    while ((int) STATE.getAndSet(this, WANTED) != FREE) {
      LockSupport.parkNanos(this, SLEEP_NS);
      interrupted |= Thread.interrupted();
    }
    waiters.remove(self);
    if (interrupted) {
      self.interrupt();
    }
  }

  void unlock() {
    if ((int) STATE.getOpaque(this) == HELD) {
      STATE.setRelease(this, FREE);
      return;
    }
    if ((int) STATE.getAndSet(this, FREE) == WANTED) {
      Thread first = waiters.peek();
      if (first != null) {
        LockSupport.unpark(first);
      }
    }
  }

  /** Whether a thread may be waiting; only for the holder. */
  boolean wanted() {
    return state == WANTED && !waiters.isEmpty();
  }
}
