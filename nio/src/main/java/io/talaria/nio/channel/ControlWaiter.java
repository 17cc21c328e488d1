// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

/**
 * How a reader and a writer sleep on one control connection: the first to come polls it (the JDK's
 * poller for virtual threads knows one waiter per descriptor only), the other parks and is woken
 * when the first has been. Where the fabric itself wakes them, both park.
 */
final class ControlWaiter {
  static final int READER = 0;
  static final int WRITER = 1;

  private final SocketChannel control;
  private final ConnectionCounters counters;
  private final IntPredicate over;
  private final AtomicReference<Thread> leader = new AtomicReference<>();
  private volatile Thread reader;
  private volatile Thread writer;

  /** The system thread that polls, for {@link #wake}; 0 if none or virtual. */
  private volatile long polling;

  /**
   * @param over whether a sleeper of the given role has nothing to wait for any more; whoever makes
   *     it so calls {@link #wake} afterwards
   */
  ControlWaiter(SocketChannel control, ConnectionCounters counters, IntPredicate over) {
    this.control = control;
    this.counters = counters;
    this.over = over;
  }

  /**
   * Sleeps until the control connection is readable, somebody wakes us, or for the time given.
   *
   * @return true if the caller is to see what the control connection brought
   */
  boolean sleep(int who, long limitNs) throws IOException {
    Thread me = Thread.currentThread();
    occupy(who, me);
    counters.slept();
    try {
      if (over.test(who)) {
        return false; // whoever will wake us sees us now; this one may have come too early
      }
      if (leader.compareAndSet(null, me)) {
        try {
          polling = JdkNio.currentNativeThread();
          JdkNio.park(control, JdkNio.READABLE, limitNs);
          return true;
        } finally {
          polling = 0;
          leader.set(null);
          unpark(who == READER ? writer : reader);
        }
      }
      if (leader.get() != null) {
        LockSupport.parkNanos(this, limitNs);
      }
      return false;
    } finally {
      occupy(who, null);
    }
  }

  /**
   * Sleeps until somebody wakes us or for the time given, without a look at the control connection.
   */
  void park(int who, long limitNs) {
    occupy(who, Thread.currentThread());
    counters.slept();
    try {
      if (!over.test(who)) {
        LockSupport.parkNanos(this, limitNs);
      }
    } finally {
      occupy(who, null);
    }
  }

  private void occupy(int who, Thread thread) {
    if (who == READER) {
      reader = thread;
    } else {
      writer = thread;
    }
  }

  /**
   * Wakes one sleeper, if there is one. It may miss a platform thread by a moment, which then looks
   * by itself; a virtual thread keeps the permit.
   */
  void wake(int who) {
    Thread sleeper = who == READER ? reader : writer;
    if (sleeper != null) {
      if (leader.get() == sleeper) {
        JdkNio.signal(polling);
      }
      unpark(sleeper);
    }
  }

  void wakeAll() {
    wake(READER);
    wake(WRITER);
  }

  private static void unpark(Thread thread) {
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }
}
