// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Bounds the memory that a node's large messages use. Any thread.
 *
 * <p>A message for which its sender has asked (BIG) waits in a queue until memory is free. A
 * message that is sent without asking stays unread in the ring while handlers have memory and the
 * message would exceed the limit.
 *
 * <p>Invariant: an unread message waits for handlers only, never for an incomplete message, because
 * the rest of that might be behind it in the ring. So incomplete messages may exceed the limit, by
 * at most the {@link Records#MAX_UNASKED} messages that each connection may send without asking.
 */
final class LargeMemory {
  /** A message for which its sender has asked. */
  record Asked(Reassembly by, int stream, int total) {}

  private final long most;

  /** Bytes in use. Guarded by this, as are all fields below. */
  private long bytes;

  /** The part of {@link #bytes} that handlers have, or are about to get. */
  private long handed;

  private final Deque<Asked> asked = new ArrayDeque<>();

  LargeMemory(long most) {
    this.most = most;
  }

  /** Takes memory; false if that would exceed the limit. One message alone may exceed it. */
  synchronized boolean take(int total) {
    if (bytes != 0 && bytes + total > most) {
      return false;
    }
    bytes += total;
    return true;
  }

  /**
   * Takes memory for a message that is sent without asking; false if it must stay unread until a
   * handler gives memory back. Keeps the memory that the first of the queue needs.
   */
  synchronized boolean takeUnasked(int total) {
    long others = asked.isEmpty() ? 0 : asked.peek().total();
    if (handed != 0 && bytes + others + total > most) {
      return false;
    }
    bytes += total;
    return true;
  }

  /** Adds a message to the queue. */
  synchronized void ask(Asked who) {
    asked.add(who);
  }

  /** Removes the first of the queue and takes its memory; null if there is none, or no memory. */
  synchronized Asked next() {
    Asked first = asked.peek();
    return first != null && take(first.total()) ? asked.poll() : null;
  }

  /** Removes a message from the queue; whether it was there. */
  synchronized boolean forget(Reassembly by, int stream) {
    return asked.removeIf(each -> each.by() == by && each.stream() == stream);
  }

  /** Removes all messages of a connection from the queue. */
  synchronized void forget(Reassembly by) {
    asked.removeIf(each -> each.by() == by);
  }

  /** Counts a complete message as being with a handler. */
  synchronized void hand(int total) {
    handed += total;
  }

  /** Undoes {@link #hand}: the message could not be delivered. */
  synchronized void handBack(int total) {
    handed -= total;
  }

  /** Gives back memory that no handler has; whether a message in the queue waits for it. */
  synchronized boolean giveBack(long total) {
    bytes -= total;
    return !asked.isEmpty();
  }

  /** Gives back memory that a handler had; whether a message in the queue waits for it. */
  synchronized boolean giveBackHanded(long total) {
    handed -= total;
    return giveBack(total);
  }
}
