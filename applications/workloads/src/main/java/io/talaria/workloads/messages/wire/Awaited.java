// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Something that another thread brings; waited for as a node waits for a response: looks, then
 * sleeps.
 */
public final class Awaited {
  private static final long SPIN_NS = 20_000;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(30);

  private volatile Object value;
  private volatile Thread waiter;

  void bring(Object what) {
    value = what;
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
  }

  Object take() throws TimeoutException {
    long begin = System.nanoTime();
    while (value == null && System.nanoTime() - begin < SPIN_NS) {
      Thread.onSpinWait();
    }
    waiter = Thread.currentThread();
    while (value == null) {
      LockSupport.parkNanos(LIMIT_NS);
      if (System.nanoTime() - begin > LIMIT_NS) {
        throw new TimeoutException("no response within 30 s");
      }
    }
    waiter = null;
    Object taken = value;
    value = null;
    return taken;
  }
}
