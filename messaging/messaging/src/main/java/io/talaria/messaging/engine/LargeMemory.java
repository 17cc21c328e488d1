// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.records.Records;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;

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
public final class LargeMemory {
  /** No more is kept for use again, nor more than a quarter of the limit. */
  private static final long MAX_KEPT_BYTES = 8 << 20;

  /** Sizes are rounded up by at most a quarter, so that messages of about one size share memory. */
  private static final int ROUNDING_SHIFT = 2;

  /** A message for which its sender has asked. */
  record Asked(Reassembly by, int stream, int total) {}

  private final long most;
  private final Executor poller;

  /** Bytes in use. Guarded by this, as are all fields below. */
  private long bytes;

  /** The part of {@link #bytes} that handlers have, or are about to get. */
  private long handed;

  private final Deque<Asked> asked = new ArrayDeque<>();

  /** Memory whose messages were read, for the next ones: new memory costs page faults and zeros. */
  private final List<MemorySegment> kept = new ArrayList<>();

  private long keptBytes;

  /**
   * With nothing in use.
   *
   * @param most the limit, in bytes
   * @param poller runs a task on the node's poller
   */
  public LargeMemory(long most, Executor poller) {
    this.most = most;
    this.poller = poller;
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

  /** Grants memory to the messages of the queue, while there is any. Poller only. */
  void grant() {
    for (Asked next = next(); next != null; next = next()) {
      next.by().granted(next.stream(), next.total());
    }
  }

  /** Removes the first of the queue and takes its memory; null if there is none, or no memory. */
  private synchronized Asked next() {
    Asked first = asked.peek();
    return first != null && take(first.total()) ? asked.poll() : null;
  }

  /** Removes a message from the queue; whether it was there. */
  synchronized boolean forget(Reassembly by, int stream) {
    return asked.removeIf(each -> each.by() == by && each.stream() == stream);
  }

  /** Removes all messages of a connection from the queue; others may need less memory. */
  void forget(Reassembly by) {
    boolean any;
    synchronized (this) {
      any = asked.removeIf(each -> each.by() == by);
    }
    if (any) {
      poller.execute(this::grant);
    }
  }

  /** How many messages are in the queue. */
  synchronized int waiting() {
    return asked.size();
  }

  /** Counts a complete message as being with a handler. */
  synchronized void hand(int total) {
    handed += total;
  }

  /** Undoes {@link #hand}: the message could not be delivered. */
  synchronized void handBack(int total) {
    handed -= total;
  }

  /** Undoes {@link #take}, for a caller that is granting memory: it goes on with the next. */
  synchronized void undoTake(long total) {
    bytes -= total;
  }

  /**
   * Returns memory for a message that {@link #take} or its like has counted; with any content.
   *
   * @throws OutOfMemoryError if there is none
   */
  MemorySegment allocate(int total) {
    long rounding = Math.max(Long.BYTES, Integer.highestOneBit(total) >> ROUNDING_SHIFT);
    long size = (total + rounding - 1) & -rounding;
    synchronized (this) {
      for (int i = kept.size() - 1; i >= 0; i--) {
        if (kept.get(i).byteSize() == size) {
          keptBytes -= size;
          return kept.remove(i);
        }
      }
    }
    return Arena.ofAuto().allocate(size, Long.BYTES);
  }

  /** Keeps memory that nobody reads or writes any more. */
  private void keep(MemorySegment memory) {
    long size = memory.byteSize();
    if (keptBytes + size <= Math.min(MAX_KEPT_BYTES, most / 4)) {
      keptBytes += size;
      kept.add(memory);
    }
  }

  /** Gives back what was counted for memory that no handler has. */
  void giveBack(long total) {
    giveBack(total, false, null);
  }

  /**
   * Gives back memory of a message that was not delivered, or whose bytes were copied.
   *
   * @param memory from {@link #allocate}; nobody reads or writes it any more
   */
  void giveBack(long total, MemorySegment memory) {
    giveBack(total, false, memory);
  }

  /**
   * Gives back the memory of a message that was read; does nothing for 0.
   *
   * @param memory from {@link #allocate}; nobody reads or writes it any more
   */
  void giveBackRead(long total, MemorySegment memory) {
    if (total != 0) {
      giveBack(total, true, memory);
    }
  }

  private void giveBack(long total, boolean read, MemorySegment memory) {
    boolean wanted;
    synchronized (this) {
      if (memory != null) {
        keep(memory);
      }
      bytes -= total;
      handed -= read ? total : 0;
      wanted = !asked.isEmpty();
    }
    if (wanted) {
      poller.execute(this::grant);
    }
  }
}
