// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.dispatch.BoundedQueue;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The questions under way from a node. Any thread. */
final class Calls {
  private static final int MOST = 1 << 16;

  private final AtomicReferenceArray<CallSlot> slots = new AtomicReferenceArray<>(MOST);
  private final AtomicInteger made = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();
  private final BoundedQueue<CallSlot> free = new BoundedQueue<>(2 * MOST);

  /** A free slot, or null if all are in use. */
  CallSlot take() {
    CallSlot slot = free.poll();
    if (slot == null) {
      int index = made.getAndUpdate(now -> now < MOST ? now + 1 : now);
      if (index >= MOST) {
        return null;
      }
      slot = new CallSlot(index);
      slots.set(index, slot);
    }
    open.incrementAndGet();
    return slot;
  }

  void giveBack(CallSlot slot) {
    open.decrementAndGet();
    boolean unused = free.offer(slot);
  }

  CallSlot at(int index) {
    return index >= 0 && index < MOST ? slots.get(index) : null;
  }

  /** Whether a question is under way on a connection. */
  boolean any(Connection connection) {
    for (int i = 0; i < made.get(); i++) {
      CallSlot slot = slots.get(i);
      if (slot != null && slot.isOpen() && slot.connection == connection) {
        return true;
      }
    }
    return false;
  }

  /** How many questions are under way, by connection. */
  Map<Connection, Integer> openByConnection() {
    Map<Connection, Integer> counts = new HashMap<>();
    int left = open.get() == 0 ? 0 : made.get();
    for (int i = 0; i < left; i++) {
      CallSlot slot = slots.get(i);
      Connection on = slot == null || !slot.isOpen() ? null : slot.connection;
      if (on != null) {
        counts.merge(on, 1, Integer::sum);
      }
    }
    return counts;
  }

  int open() {
    return open.get();
  }

  void failAll(Connection connection, MessagingException.Code code, String text) {
    for (int i = 0; i < made.get(); i++) {
      CallSlot slot = slots.get(i);
      if (slot != null) {
        slot.failOpen(connection, code, text);
      }
    }
  }
}
