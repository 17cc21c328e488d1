// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.dispatch.BoundedQueue;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The requests under way from a node. Any thread.
 *
 * <p>A slot is in use until its request is collected, or, of a request that is collected later or
 * never, until it is answered or its time is over: then {@link #sweep} gives the response to the
 * future, and the slot to others.
 */
final class ResponseSlots {
  static final int MAX_SLOTS = 1 << 16;

  /** Slots that are not in use keep so much memory for responses, each and together. */
  private static final long KEPT_BYTES = 64 << 10;

  private static final long ALL_KEPT_BYTES = 16 << 20;

  /** Between two looks for requests whose time is over, at least. */
  private static final long SWEEP_NS = 1_000_000;

  private final LocalNode node;
  private final AtomicLong kept = new AtomicLong();

  /** Guarded by this: whether a sweep is due at a time, and when. */
  private boolean due;

  private long dueNs;

  private final AtomicReferenceArray<ResponseSlot> slots = new AtomicReferenceArray<>(MAX_SLOTS);
  private final AtomicInteger made = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();
  private final BoundedQueue<ResponseSlot> free = new BoundedQueue<>(2 * MAX_SLOTS);

  ResponseSlots(LocalNode node) {
    this.node = node;
  }

  /** A free slot, or null if all are in use. */
  ResponseSlot take() {
    ResponseSlot slot = free.poll();
    if (slot == null && made.get() >= MAX_SLOTS) {
      sweep();
      slot = free.poll();
    }
    if (slot == null) {
      int index = made.getAndUpdate(now -> now < MAX_SLOTS ? now + 1 : now);
      if (index >= MAX_SLOTS) {
        return null;
      }
      slot = new ResponseSlot(index);
      slots.set(index, slot);
    }
    open.incrementAndGet();
    return slot;
  }

  void giveBack(ResponseSlot slot) {
    slot.owner = null;
    if (slot.memoryBytes() != slot.counted || slot.counted > ResponseSlot.SMALL_BYTES) {
      countMemory(slot);
    }
    open.decrementAndGet();
    free.offer(slot);
  }

  private void countMemory(ResponseSlot slot) {
    long bytes = slot.memoryBytes();
    if (bytes != slot.counted) {
      kept.addAndGet(bytes - slot.counted);
      slot.counted = bytes;
    }
    if (bytes > KEPT_BYTES || (bytes > ResponseSlot.SMALL_BYTES && kept.get() > ALL_KEPT_BYTES)) {
      slot.forgetMemory();
      kept.addAndGet(-bytes);
      slot.counted = 0;
    }
  }

  /** Bytes that slots keep. */
  long keptBytes() {
    return kept.get();
  }

  /** Has {@link #sweep} run when the time of a request is over. */
  void sweepAt(long timeNs) {
    synchronized (this) {
      if (due && dueNs - timeNs <= 0) {
        return;
      }
      due = true;
      dueNs = timeNs;
    }
    node.at(timeNs, this::sweep);
  }

  /**
   * Takes the slots back of requests that are answered and not collected, or whose time is over.
   */
  void sweep() {
    long now = System.nanoTime();
    synchronized (this) {
      due &= dueNs - now > 0;
    }
    boolean more = false;
    long next = 0;
    int count = open.get() == 0 ? 0 : made.get();
    for (int i = 0; i < count; i++) {
      ResponseSlot slot = slots.get(i);
      PendingResponse<?> pending = slot == null ? null : slot.owner;
      if (pending != null && pending.sweep(now) && (!more || pending.deadlineNs() - next < 0)) {
        more = true;
        next = pending.deadlineNs();
      }
    }
    if (more) {
      sweepAt(Math.max(next - now, SWEEP_NS) + now);
    }
  }

  ResponseSlot at(int index) {
    return index >= 0 && index < MAX_SLOTS ? slots.get(index) : null;
  }

  /** Whether a request is under way on a connection. */
  boolean any(Connection connection) {
    for (int i = 0; i < made.get(); i++) {
      ResponseSlot slot = slots.get(i);
      if (slot != null && slot.isOpen() && slot.connection == connection) {
        return true;
      }
    }
    return false;
  }

  /** How many requests are under way, by connection. */
  Map<Connection, Integer> openByConnection() {
    Map<Connection, Integer> counts = new HashMap<>();
    int left = open.get() == 0 ? 0 : made.get();
    for (int i = 0; i < left; i++) {
      ResponseSlot slot = slots.get(i);
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
      ResponseSlot slot = slots.get(i);
      if (slot != null) {
        slot.failOpen(connection, code, text);
      }
    }
  }
}
