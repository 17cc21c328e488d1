// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.dispatch.Mailbox;
import io.talaria.messaging.dispatch.Slab;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Queues the messages that wait for one receiver, and tells the senders of too many to hold.
 *
 * <pre>
 *   0 … capacity / 8 … capacity / 2 … capacity … and maxBeyond bytes
 *            │              │                           └ the rest stays in the ring
 *            │              └ each connection that brings one more is told to hold
 *            └ these connections are told to continue
 *
 *   the same with the bytes of the waiting messages: 0 … maxBytes / 8 … maxBytes / 2 … maxBytes
 * </pre>
 *
 * <p>The memory beyond the capacity, and the second half of maxBytes, are for messages that were
 * sent before their sender learns that it must hold; these are never more than the rings contain,
 * and the large messages that have begun. So a receiver that takes nothing blocks its own senders
 * only, and messages for other receivers do not wait behind its messages. A connection that does
 * not hold is not read further instead.
 *
 * <p>A message of more than maxBytes is put if no other waits: else it could never be.
 */
public final class Inbox {
  /**
   * With this many messages waiting, further ones go into slabs of this inbox's own: in a shared
   * slab they would keep the memory of other receivers' messages in use.
   */
  private static final int OWN_MEMORY_FROM = 64;

  /** Estimated bytes of an envelope and its entries in queues. */
  private static final int ENVELOPE_BYTES = 128;

  /** So far from both ends of an array that no cache line has another object as well. */
  private static final int TAKEN = 16;

  private record Holding(Connection connection, int what) {}

  final Mailbox<Envelope> mailbox;
  private final int capacity;
  private final long maxBeyond;
  private final AtomicLong beyondBytes = new AtomicLong();
  private final long maxBytes;

  /** Whether at most one handler at a time takes messages. */
  private final boolean single;

  /** The bytes of all messages that were ever put. Written by the poller only. */
  private final AtomicLong putBytes = new AtomicLong();

  /** At {@link #TAKEN}: the bytes of all messages that were ever taken. Written by handlers. */
  private final AtomicLongArray takenBytes = new AtomicLongArray(2 * TAKEN);

  /** What the poller has last seen there; never more than is there. */
  private long takenSeen;

  /**
   * Whether any connection was told to hold. The poller sets it before it checks {@link
   * #canRelease}, and a handler removes a message before its own check, so one of them sees that
   * few enough wait.
   */
  private volatile boolean holding;

  // Used by the poller only.
  private final List<Holding> holders = new ArrayList<>();
  private Slab slab;

  /**
   * An empty inbox.
   *
   * @param capacity of the mailbox
   * @param single whether the mailbox has one handler at a time
   * @param maxBeyond the bytes of messages beyond the capacity
   * @param maxBytes the bytes of all messages
   */
  Inbox(Mailbox<Envelope> mailbox, int capacity, boolean single, long maxBeyond, long maxBytes) {
    this.mailbox = mailbox;
    this.capacity = capacity;
    this.single = single;
    this.maxBeyond = maxBeyond;
    this.maxBytes = maxBytes;
  }

  /** The approximate number of waiting messages. Any thread. */
  public int waiting() {
    return mailbox.size();
  }

  /** The bytes of the waiting messages, or of some more. Any thread. */
  private long waitingBytes() {
    long taken = takenBytes.getAcquire(TAKEN); // first: what was taken was put before
    return putBytes.getAcquire() - taken;
  }

  /**
   * Whether this many bytes more would be beyond a limit. Looks what handlers have taken only if
   * what it has last seen is too little, because that takes the memory from their core. Poller
   * only.
   */
  private boolean beyond(long limit, int bytes) {
    long withIt = putBytes.getPlain() + bytes;
    if (withIt - takenSeen <= limit) {
      return false;
    }
    takenSeen = takenBytes.getAcquire(TAKEN);
    return withIt - takenSeen > limit;
  }

  /** Whether who sends a message of this many bytes must hold further ones. Poller only. */
  boolean tooMany(int waiting, int bytes) {
    return waiting >= capacity / 2 || beyond(maxBytes / 2, bytes);
  }

  /** Whether a message of this many bytes may be {@link #put}. Poller only. */
  boolean hasRoom(int waiting, int bytes) {
    if (beyond(maxBytes, bytes) && putBytes.getPlain() != takenSeen) {
      return false;
    }
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
    return holding && waiting() <= capacity / 8 && waitingBytes() <= maxBytes / 8;
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
    putBytes.setRelease(putBytes.getPlain() + envelope.bytes); // before a handler can take it
    if (!mailbox.offer(envelope)) {
      envelope.beyondBytes = envelope.bytes + ENVELOPE_BYTES;
      beyondBytes.addAndGet(envelope.beyondBytes);
      mailbox.offerBeyond(envelope);
    }
  }

  /** Uncounts an envelope that could not be {@link #put}. Poller only. */
  void notPut(Envelope envelope) {
    putBytes.setRelease(putBytes.getPlain() - envelope.bytes);
    notBeyond(envelope);
  }

  /**
   * Uncounts an envelope that a handler has removed. A full fence must follow before the handler
   * calls {@link #canRelease}.
   */
  void taken(Envelope envelope) {
    if (single) {
      takenBytes.setRelease(TAKEN, takenBytes.getPlain(TAKEN) + envelope.bytes);
    } else {
      takenBytes.getAndAdd(TAKEN, envelope.bytes);
    }
    notBeyond(envelope);
  }

  private void notBeyond(Envelope envelope) {
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
