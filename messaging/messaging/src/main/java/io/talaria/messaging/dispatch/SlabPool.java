// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.util.concurrent.atomic.AtomicInteger;

/** Bounds and reuses the memory in which a node keeps records that wait for handlers. */
public final class SlabPool {
  private static final int MAX_SLABS = 1 << 16;

  private final BoundedQueue<Slab> free = new BoundedQueue<>(MAX_SLABS);
  private final AtomicInteger made = new AtomicInteger();
  private final int most;

  public SlabPool(long budget) {
    most = Math.clamp(budget / Slab.BYTES, 4, MAX_SLABS);
  }

  /** Takes an empty slab, which the caller holds once; null if all are in use. Poller only. */
  public Slab take() {
    Slab slab = free.poll();
    if (slab == null) {
      if (made.get() >= most) {
        return null;
      }
      slab = new Slab(this);
      made.incrementAndGet(); // after the constructor, which may find no memory
    }
    slab.used = 0;
    slab.hold();
    return slab;
  }

  void giveBack(Slab slab) {
    free.offer(slab);
  }
}
