// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.Slab;
import io.talaria.messaging.dispatch.SlabPool;
import io.talaria.messaging.records.Records;
import java.lang.foreign.MemorySegment;

/** Copies records that wait for handlers from the ring into slabs. Poller only. */
final class SlabWriter {
  private final SlabPool pool;

  /** The slab for all inboxes without one of their own, that is being filled; or null. */
  private Slab shared;

  SlabWriter(SlabPool pool) {
    this.pool = pool;
  }

  /**
   * Copies a record, and has its envelope refer to the copy; false if there is no memory for it.
   *
   * @param inbox where it will wait, or null
   * @param waiting the number of messages that wait there
   */
  boolean copy(
      Envelope envelope, Inbox inbox, int waiting, MemorySegment memory, long offset, int bytes) {
    int aligned = Records.aligned(bytes);
    boolean own = inbox != null && inbox.hasOwnMemory(waiting);
    Slab to = own ? inbox.ownMemory() : shared;
    if (to == null || to.used + aligned > Slab.BYTES) {
      to = pool.take();
      if (to == null) {
        return false;
      }
      if (own) {
        inbox.ownMemory(to);
      } else {
        share(to);
      }
    }
    MemorySegment.copy(memory, offset, to.memory, to.used, bytes);
    envelope.memory = to.memory;
    envelope.offset = to.used;
    envelope.slab = to;
    to.hold();
    to.used += aligned;
    return true;
  }

  private void share(Slab next) {
    if (shared != null) {
      shared.release();
    }
    shared = next;
  }
}
