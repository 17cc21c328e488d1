// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * The lock of a rank's window, in memory of all ranks that access the window directly.
 *
 * <pre>
 *  0  | lock:4    0 free, -1 exclusive, else the number of ranks that share it
 *  4  | mutex:4   0 free, else 1 more than the rank that combines elements which no
 *               compare-and-swap covers
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

  /**
   * Enters the mutex, which ranks hold for some instructions only.
   *
   * @param rank this one in the window's group
   * @param whileHeld takes the rank that holds it, now and then; throws if that is gone
   */
  void enter(int rank, IntConsumer whileHeld) {
    int word = tryEnter(rank);
    for (int i = 1; word != 0; i++) {
      if (i > SPINS) {
        whileHeld.accept(word - 1);
      }
      pause(i);
      word = tryEnter(rank);
    }
  }

  /** The mutex before: 0 if this rank has it now. */
  private int tryEnter(int rank) {
    return (int) INT.compareAndExchange(words, at + MUTEX, 0, rank + 1);
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
