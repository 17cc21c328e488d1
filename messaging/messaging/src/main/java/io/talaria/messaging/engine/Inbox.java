// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.Mailbox;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Queues the messages that wait for one receiver, and tells the senders of too many to hold.
 *
 * <pre>
 *   0 … capacity / 8 … capacity / 2 … capacity … and maxBeyond bytes
 *            │              │                           └ the rest stays in the ring
 *            │              └ each connection that brings one more is told to hold
 *            └ these connections are told to continue
 * </pre>
 *
 * <p>The memory beyond the capacity is for messages that were sent before their sender learns that
 * it must hold; these are never more than the rings contain. So a receiver that takes nothing
 * blocks its own senders only, and messages for other receivers do not wait behind its messages.
 */
final class Inbox {
  /**
   * With this many messages waiting, further ones go into slabs of this inbox's own: in a shared
   * slab they would keep the memory of other receivers' messages in use.
   */
  private static final int OWN_MEMORY_FROM = 64;

  /** Estimated bytes of an envelope and its entries in queues. */
  private static final int ENVELOPE_BYTES = 128;

  private record Holding(Connection connection, int what) {}

  final Mailbox<Envelope> mailbox;
  private final int capacity;
  private final long maxBeyond;
  private final AtomicLong beyondBytes = new AtomicLong();

  /**
   * Whether any connection was told to hold. The poller sets it before it checks {@link
   * #canRelease}, and a handler removes a message before its own check, so one of them sees that
   * few enough wait.
   */
  private volatile boolean holding;

  // Used by the poller only.
  private final List<Holding> holders = new ArrayList<>();
  private Slab slab;

  Inbox(Mailbox<Envelope> mailbox, int capacity, long maxBeyond) {
    this.mailbox = mailbox;
    this.capacity = capacity;
    this.maxBeyond = maxBeyond;
  }

  /** The approximate number of waiting messages. Any thread. */
  int waiting() {
    return mailbox.size();
  }

  boolean tooMany(int waiting) {
    return waiting >= capacity / 2;
  }

  /** Whether a message of this many bytes may be {@link #put}. Poller only. */
  boolean hasRoom(int waiting, int bytes) {
    return waiting < capacity - 1 || beyondBytes.get() + bytes <= maxBeyond;
  }

  /**
   * Tells a connection to hold what is for this receiver, unless it was told before. Poller only.
   *
   * @param what the receiver, as HOLD names it
   * @return true if it is the only connection that this inbox has told to hold
   */
  boolean hold(Connection connection, int what) {
    if (!connection.holds().hold(what)) {
      return false;
    }
    boolean first = holders.isEmpty();
    holders.add(new Holding(connection, what));
    holding = true;
    return first;
  }

  /** Whether connections hold and few enough messages wait to let them continue. Any thread. */
  boolean canRelease() {
    return holding && waiting() <= capacity / 8;
  }

  /** Tells the connections that hold to continue. Poller only. */
  void release() {
    while (!holders.isEmpty()) {
      Holding last = holders.getLast();
      last.connection.holds().release(last.what);
      holders.removeLast();
    }
    holding = false;
  }

  /** Adds an envelope, after {@link #hasRoom}. Poller only. */
  void put(Envelope envelope) {
    if (!mailbox.offer(envelope)) {
      envelope.beyondBytes = envelope.bytes + ENVELOPE_BYTES;
      beyondBytes.addAndGet(envelope.beyondBytes);
      mailbox.offerBeyond(envelope);
    }
  }

  /** Uncounts an envelope that was removed, or that could not be put. Any thread. */
  void taken(Envelope envelope) {
    if (envelope.beyondBytes != 0) {
      beyondBytes.addAndGet(-envelope.beyondBytes);
      envelope.beyondBytes = 0;
    }
  }

  /**
   * Whether the next message goes into a slab of this inbox's own; if not, releases that slab.
   * Poller only.
   */
  boolean hasOwnMemory(int waiting) {
    if (waiting >= OWN_MEMORY_FROM) {
      return true;
    }
    ownMemory(null);
    return false;
  }

  /** The inbox's own slab that is being filled, or null. Poller only. */
  Slab ownMemory() {
    return slab;
  }

  /** Releases the inbox's own slab, and uses another one, or none if null. Poller only. */
  void ownMemory(Slab next) {
    if (slab != null && slab != next) {
      slab.release();
    }
    slab = next;
  }
}
