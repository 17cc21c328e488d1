// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** A piece of memory for records that wait for a handler; goes back when nobody holds any of it. */
final class Slab {
  static final int BYTES = 64 << 10;

  final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 8);
  private final SlabPool pool;
  private final AtomicInteger holders = new AtomicInteger();

  /** Of the poller, which fills it. */
  int used;

  Slab(SlabPool pool) {
    this.pool = pool;
  }

  void hold() {
    holders.incrementAndGet();
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      pool.giveBack(this);
    }
  }
}
