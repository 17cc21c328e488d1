// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Has things happen one after the other, so that nothing but the answer to the only request can
 * wake anybody: in a crowd, a wake-up that is lost is made good by the next one. Any thread may
 * call it.
 */
final class Turns {
  private final Node node;
  private final Deque<Turn> waiting = new ArrayDeque<>();
  private Object current;

  private record Turn(Object owner, Runnable task) {}

  Turns(Node node) {
    this.node = node;
  }

  /**
   * Has a worker run a task as soon as no other task has the turn; it lasts until it is {@link
   * #done}.
   */
  synchronized void want(Object owner, Runnable task) {
    waiting.add(new Turn(owner, task));
    next();
  }

  /** The owner has no turn any more, nor wants one. */
  synchronized void done(Object owner) {
    waiting.removeIf(turn -> turn.owner() == owner);
    if (current == owner) {
      current = null;
      next();
    }
  }

  private void next() {
    if (current == null && !waiting.isEmpty()) {
      Turn turn = waiting.remove();
      current = turn.owner();
      node.work(turn.task());
    }
  }
}
