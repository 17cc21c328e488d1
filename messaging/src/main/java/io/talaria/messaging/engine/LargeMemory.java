// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What the large messages of a node may have of memory: those for which was asked before they were
 * sent wait in a queue until there is some; others come unasked, and are left unread while handlers
 * have more than there is. Any thread.
 *
 * <p>Who is left unread waits for handlers alone, never for a message that is not complete: the
 * rest of that might stand behind it. So what is not complete may go beyond the limit, as far as a
 * connection may have unasked messages under way.
 */
final class LargeMemory {
  /** Somebody who has asked. */
  record Asked(Reassembly by, int stream, int total) {}

  private final long most;

  /** Guarded by this, as all. */
  private long bytes;

  /** The part of it that handlers have, or are about to get. */
  private long handed;

  private final Deque<Asked> asked = new ArrayDeque<>();

  LargeMemory(long most) {
    this.most = most;
  }

  /** Takes memory for what must come now or not at all; false if there is none. */
  synchronized boolean take(int total) {
    if (bytes != 0 && bytes + total > most) {
      return false;
    }
    bytes += total;
    return true;
  }

  /** Takes memory for what comes unasked; false if it is to be left unread until handlers go on. */
  synchronized boolean takeUnasked(int total) {
    long others = asked.isEmpty() ? 0 : asked.peek().total();
    if (handed != 0 && bytes + others + total > most) {
      return false;
    }
    bytes += total;
    return true;
  }

  /** Puts somebody into the queue. */
  synchronized void ask(Asked who) {
    asked.add(who);
  }

  /** The first of the queue, if there is memory, which is taken; or null. */
  synchronized Asked next() {
    Asked first = asked.peek();
    return first != null && take(first.total()) ? asked.poll() : null;
  }

  /** Takes somebody out of the queue; whether it was there. */
  synchronized boolean forget(Reassembly by, int stream) {
    return asked.removeIf(each -> each.by() == by && each.stream() == stream);
  }

  /** Takes all of somebody out of the queue. */
  synchronized void forget(Reassembly by) {
    asked.removeIf(each -> each.by() == by);
  }

  /** A message is complete, and goes to a handler. */
  synchronized void hand(int total) {
    handed += total;
  }

  /** It did not go there. */
  synchronized void handBack(int total) {
    handed -= total;
  }

  /** Gives back what was not handed to anybody; whether somebody waits for it. */
  synchronized boolean giveBack(long total) {
    bytes -= total;
    return !asked.isEmpty();
  }

  /** Gives back what a handler had; whether somebody waits for it. */
  synchronized boolean giveBackHanded(long total) {
    handed -= total;
    return giveBack(total);
  }
}
