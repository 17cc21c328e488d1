// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.Mailbox;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What waits for one receiver on handlers, and which senders hold back because that is too much.
 *
 * <pre>
 *   0 … releaseAt … holdAt … capacity … beyond, up to maxBeyond bytes
 *           │          │         └ left in the ring, with all behind it, if the sender does not hold
 *           │          └ each connection that brings one more is told to hold
 *           └ they are told to go on
 * </pre>
 *
 * What is on its way when a sender is told to hold has room beyond the capacity: it is never more
 * than the rings have. So a receiver that takes nothing keeps its own senders back, and what is for
 * others does not stand behind it.
 */
final class Inbox {
  /** From so many on they have memory of their own, so as not to hold that of others. */
  private static final int OWN_MEMORY_FROM = 64;

  /** An envelope with its places in queues, about. */
  private static final int ENVELOPE_BYTES = 128;

  private record Holding(Connection connection, int what) {}

  final Mailbox<Envelope> mailbox;
  private final int capacity;
  private final long maxBeyond;
  private final AtomicLong beyondBytes = new AtomicLong();

  /** Whether anybody holds back; set before looking at how many wait. */
  private volatile boolean holding;

  // Of the poller.
  private final List<Holding> holders = new ArrayList<>();
  private Slab slab;

  Inbox(Mailbox<Envelope> mailbox, int capacity, long maxBeyond) {
    this.mailbox = mailbox;
    this.capacity = capacity;
    this.maxBeyond = maxBeyond;
  }

  /** How many wait, about. Any thread. */
  int waiting() {
    return mailbox.size();
  }

  boolean tooMany(int waiting) {
    return waiting >= capacity / 2;
  }

  /** Whether one more of so many bytes may come. Poller. */
  boolean hasRoom(int waiting, int bytes) {
    return waiting < capacity - 1 || beyondBytes.get() + bytes <= maxBeyond;
  }

  /** Has a connection hold back what is for this; false if it does, and all of this was told. */
  boolean hold(Connection connection, int what) {
    if (!connection.holds().hold(what)) {
      return false;
    }
    boolean first = holders.isEmpty();
    holders.add(new Holding(connection, what));
    holding = true;
    return first;
  }

  /** After one was taken: whether those that hold back can go on. Any thread. */
  boolean canRelease() {
    return holding && waiting() <= capacity / 8;
  }

  /** Has them go on. Poller. */
  void release() {
    while (!holders.isEmpty()) {
      Holding last = holders.getLast();
      last.connection.holds().release(last.what);
      holders.removeLast();
    }
    holding = false;
  }

  /** Puts an envelope, for which there is room. Poller. */
  void put(Envelope envelope) {
    if (!mailbox.offer(envelope)) {
      envelope.beyondBytes = envelope.bytes + ENVELOPE_BYTES;
      beyondBytes.addAndGet(envelope.beyondBytes);
      mailbox.offerBeyond(envelope);
    }
  }

  /** One was taken, or not put. Any thread. */
  void taken(Envelope envelope) {
    if (envelope.beyondBytes != 0) {
      beyondBytes.addAndGet(-envelope.beyondBytes);
      envelope.beyondBytes = 0;
    }
  }

  /** Whether what comes now goes into memory of its own; gives that back if not. Poller. */
  boolean hasOwnMemory(int waiting) {
    if (waiting >= OWN_MEMORY_FROM) {
      return true;
    }
    ownMemory(null);
    return false;
  }

  /** That is being filled, or null. */
  Slab ownMemory() {
    return slab;
  }

  /** It goes on in another one. */
  void ownMemory(Slab next) {
    if (slab != null && slab != next) {
      slab.release();
    }
    slab = next;
  }
}
