// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock of a rank's window, in memory of all ranks that access the window directly.
 *
 * <pre>
 *  0  | lock:4    0 free, -1 exclusive, else the number of ranks that share it
 *  4  | mutex:4   1 while a rank combines elements that no compare-and-swap covers
 * </pre>
 */
final class WindowLock {
  /** A cache line each. */
  static final int BYTES = 64;

  private static final int EXCLUSIVE = -1;
  private static final int SPINS = 100;
  private static final long MUTEX = 4;
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment words;
  private final long at;

  WindowLock(MemorySegment words, long at) {
    this.words = words;
    this.at = at;
  }

  boolean tryLock(boolean exclusive) {
    if (exclusive) {
      return INT.compareAndSet(words, at, 0, EXCLUSIVE);
    }
    while (true) {
      int holders = (int) INT.getVolatile(words, at);
      if (holders < 0) {
        return false;
      }
      if (INT.compareAndSet(words, at, holders, holders + 1)) {
        return true;
      }
    }
  }

  void unlock(boolean exclusive) {
    int ignored = (int) INT.getAndAdd(words, at, exclusive ? 1 : -1);
    assert exclusive ? ignored == EXCLUSIVE : ignored > 0;
  }

  /** Enters the mutex, which ranks hold for some instructions only. */
  void enter() {
    for (int i = 1; !INT.compareAndSet(words, at + MUTEX, 0, 1); i++) {
      pause(i);
    }
  }

  void leave() {
    INT.setVolatile(words, at + MUTEX, 0);
  }

  /**
   * Waits a little, and longer the more often it was called before.
   *
   * @param times how often, from 1
   */
  static void pause(int times) {
    if (times < SPINS) {
      Thread.onSpinWait();
    } else if (times < 2 * SPINS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(50_000);
    }
  }
}
