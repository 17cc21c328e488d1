// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.ProtectionDomain;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;

/** The block of a send thread: borrowed from and given back to by any thread, without a lock. */
final class SlicePool {
  final MemoryRegion region;
  final Gate gate = new Gate();
  private final MpmcAtomicArrayQueue<Slice> free;
  private final NetThread owner;
  private final int count;

  /** Somebody has found none, and wants to be called when there is one. */
  volatile boolean wanted;

  SlicePool(NetThread owner, ProtectionDomain domain, int count, int bytes) {
    this.owner = owner;
    this.count = count;
    region = domain.allocate((long) count * bytes);
    free = new MpmcAtomicArrayQueue<>(Math.max(2, count));
    for (int i = 0; i < count; i++) {
      long offset = (long) i * bytes;
      free.add(new Slice(this, offset, region.memory().asSlice(offset, bytes)));
    }
  }

  /** A slice, or null. */
  Slice borrow() {
    Slice slice = free.poll();
    if (slice != null) {
      slice.borrowed();
    }
    return slice;
  }

  void free(Slice slice) {
    // There is room: there are no more slices than places. But one that polls may hold its place
    // for a moment.
    while (!free.offer(slice)) {
      Thread.onSpinWait();
    }
    gate.open();
    if (wanted) {
      owner.wake();
    }
  }

  boolean isEmpty() {
    return free.isEmpty();
  }

  /** How many are borrowed or under way; about, while others borrow. */
  int out() {
    return count - free.size();
  }
}
