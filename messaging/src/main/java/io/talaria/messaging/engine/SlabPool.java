// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.BoundedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory of a node for what was received and is not handled: slabs for records, and a count of
 * what large messages take.
 */
final class SlabPool {
  private static final int MOST_SLABS = 1 << 16;

  private final BoundedQueue<Slab> free = new BoundedQueue<>(MOST_SLABS);
  private final AtomicInteger made = new AtomicInteger();
  private final AtomicLong largeBytes = new AtomicLong();
  private final int most;
  private final long mostLarge;

  SlabPool(long budget) {
    most = Math.clamp(budget / Slab.BYTES, 4, MOST_SLABS);
    mostLarge = budget;
  }

  /** A slab held once, or null if all are in use. */
  Slab take() {
    Slab slab = free.poll();
    if (slab == null) {
      if (made.get() >= most) {
        return null;
      }
      made.incrementAndGet(); // the poller alone makes them
      slab = new Slab(this);
    }
    slab.used = 0;
    slab.hold();
    return slab;
  }

  void giveBack(Slab slab) {
    boolean unused = free.offer(slab);
  }

  boolean takeLarge(long bytes) {
    if (largeBytes.addAndGet(bytes) > mostLarge && largeBytes.get() != bytes) {
      largeBytes.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  void giveBackLarge(long bytes) {
    largeBytes.addAndGet(-bytes);
  }
}
