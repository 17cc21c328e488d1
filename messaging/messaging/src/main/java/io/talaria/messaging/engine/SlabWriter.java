// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.Slab;
import io.talaria.messaging.dispatch.SlabPool;
import io.talaria.messaging.records.Records;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/**
 * Copies records that wait for handlers from the ring into slabs. Poller only.
 *
 * <p>A slab that is being filled stays taken after its records were read, as the next record goes
 * there. If the pool is empty, such slabs are released: the next record of their inbox may never
 * come.
 */
final class SlabWriter {
  private final SlabPool pool;

  /** The slab for all inboxes without one of their own, that is being filled; or null. */
  private Slab shared;

  /** The inboxes that have a slab of their own, and some that had one. */
  private final Set<Inbox> owners = new HashSet<>();

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
      to = take();
      if (to == null) {
        return false;
      }
      if (own) {
        inbox.ownMemory(to);
        owners.add(inbox);
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

  private Slab take() {
    Slab slab = pool.take();
    if (slab == null) {
      releaseIdle();
      slab = pool.take();
    }
    return slab;
  }

  private void releaseIdle() {
    if (shared != null && shared.idle()) {
      share(null);
    }
    owners.removeIf(SlabWriter::hasNone);
  }

  /** Releases an inbox's own slab if it is idle; whether the inbox has none now. */
  private static boolean hasNone(Inbox inbox) {
    if (inbox.ownMemory() != null && inbox.ownMemory().idle()) {
      inbox.ownMemory(null);
    }
    return inbox.ownMemory() == null;
  }

  private void share(Slab next) {
    if (shared != null) {
      shared.release();
    }
    shared = next;
  }
}
