// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.dispatch.BoundedQueue;
import io.talaria.messaging.dispatch.Timers;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The slots of a node's open requests. Any thread.
 *
 * <p>A slot is in use until the response is collected. If no thread waits for the response, {@link
 * #sweep} frees the slot as soon as there is a response or the timeout has passed, and moves the
 * response into the future: it may be collected much later, or never.
 */
public final class ResponseSlots {
  static final int MAX_SLOTS = 1 << 16;

  /** A free slot keeps a buffer of at most this size for the next response. */
  private static final long KEPT_BYTES = 64 << 10;

  /** While all slots together keep more, a freed slot keeps a buffer of the smallest size only. */
  private static final long ALL_KEPT_BYTES = 16 << 20;

  /** The least time between two sweeps that are due to timeouts. */
  private static final long SWEEP_NS = 1_000_000;

  private final Timers timers;
  private final AtomicLong kept = new AtomicLong();

  /** When sweeps are scheduled, the first one on top. Guarded by this. */
  private final Deque<Long> due = new ArrayDeque<>();

  /** By index; made on demand, and kept. */
  private final AtomicReferenceArray<ResponseSlot> slots = new AtomicReferenceArray<>(MAX_SLOTS);

  private final AtomicInteger made = new AtomicInteger();
  private final BoundedQueue<ResponseSlot> free = new BoundedQueue<>(2 * MAX_SLOTS);

  public ResponseSlots(Timers timers) {
    this.timers = timers;
  }

  /** Takes a free slot; null if all are in use. */
  public ResponseSlot take() {
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
    return slot;
  }

  public void giveBack(ResponseSlot slot) {
    slot.forgetConnection();
    if (slot.owner != null) {
      slot.owner = null;
    }
    if (slot.memoryBytes() != slot.counted || slot.counted > ResponseSlot.SMALL_BYTES) {
      countMemory(slot);
    }
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

  /** The counted bytes of the buffers that slots keep. */
  long keptBytes() {
    return kept.get();
  }

  /** Schedules {@link #sweep} at a time at which a request's timeout passes. */
  public void sweepAt(long timeNs) {
    synchronized (this) {
      Long first = due.peek();
      if (first != null && first - timeNs <= 0) {
        return;
      }
      due.push(timeNs);
    }
    timers.at(timeNs, this::sweep);
  }

  /** Frees the slots of uncollected requests that have a response or whose timeout has passed. */
  public void sweep() {
    long now = System.nanoTime();
    synchronized (this) {
      while (!due.isEmpty() && due.peek() - now <= 0) {
        due.pop();
      }
    }
    boolean more = false;
    long next = 0;
    int count = open() == 0 ? 0 : made.get();
    for (int i = 0; i < count; i++) {
      ResponseSlot slot = slots.get(i);
      ResponseSlot.Owner pending = slot == null ? null : slot.owner;
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

  /** Whether any request is open on a connection. */
  public boolean any(Connection connection) {
    for (int i = 0; i < made.get(); i++) {
      ResponseSlot slot = slots.get(i);
      if (slot != null && slot.isOpen() && slot.connection == connection) {
        return true;
      }
    }
    return false;
  }

  /** The number of open requests of each connection. */
  public Map<Connection, Integer> openByConnection() {
    Map<Connection, Integer> counts = new HashMap<>();
    int left = open() == 0 ? 0 : made.get();
    for (int i = 0; i < left; i++) {
      ResponseSlot slot = slots.get(i);
      Connection on = slot == null || !slot.isOpen() ? null : slot.connection;
      if (on != null) {
        counts.merge(on, 1, Integer::sum);
      }
    }
    return counts;
  }

  /** The number of slots in use: exact while none is taken or given back, else not too low. */
  public int open() {
    int unused = free.size(); // first: a slot may be made, and given back, in between
    return made.get() - unused;
  }

  public void failAll(Connection connection, MessagingException.Code code, String text) {
    for (int i = 0; i < made.get(); i++) {
      ResponseSlot slot = slots.get(i);
      if (slot != null) {
        slot.failOpen(connection, code, text);
      }
    }
  }
}
