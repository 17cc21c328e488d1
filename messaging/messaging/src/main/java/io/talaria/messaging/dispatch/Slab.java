// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A piece of memory for records that wait for handlers. It returns to its pool when the records in
 * it were read and the poller no longer fills it: each of these holds it once.
 */
public final class Slab {
  public static final int BYTES = 64 << 10;

  public final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 8);
  private final SlabPool pool;
  private final AtomicInteger holders = new AtomicInteger();

  /** Bytes filled. Used by the poller only. */
  public int used;

  Slab(SlabPool pool) {
    this.pool = pool;
  }

  public void hold() {
    holders.incrementAndGet();
  }

  /** Whether all records in it were read, so that only the poller holds it. Poller only. */
  public boolean idle() {
    return holders.get() == 1;
  }

  public void release() {
    if (holders.decrementAndGet() == 0) {
      pool.giveBack(this);
    }
  }
}
