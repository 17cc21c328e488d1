// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Peer;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Queues the responses and control records of a connection that found no room in the control ring,
 * or do not fit into one record. The poller sends them when there is room, so that the threads that
 * respond never wait.
 */
public final class Outbox {
  private static final long MAX_BYTES = 64L << 20;

  private static final class Waiting {
    final MemorySegment memory;
    final int type;
    final byte kind;
    final int slot;
    final int generation;
    int stream;
    int sent;

    Waiting(MemorySegment memory, int type, byte kind, int slot, int generation) {
      this.memory = memory;
      this.type = type;
      this.kind = kind;
      this.slot = slot;
      this.generation = generation;
    }
  }

  private final Connection connection;

  /** Guarded by this. */
  private final Deque<Waiting> queue = new ArrayDeque<>();

  /** Guarded by this. */
  private long bytes;

  private volatile boolean empty = true;

  /** Whether the last attempt found no room. */
  private volatile boolean full;

  Outbox(Connection connection) {
    this.connection = connection;
  }

  public boolean isEmpty() {
    return empty;
  }

  /** Whether the poller has nothing to do here until it is woken. */
  boolean blocked() {
    return empty || full;
  }

  /** Whether this many more bytes may be {@link #put}. Any thread. */
  synchronized boolean hasRoom(int size) {
    return bytes == 0 || bytes + size <= MAX_BYTES;
  }

  /** Adds a record, whose payload now belongs to this object. Any thread. */
  void put(MemorySegment payload, int type, byte kind, int slot, int generation) {
    synchronized (this) {
      bytes += payload.byteSize();
      queue.add(new Waiting(payload, type, kind, slot, generation));
      empty = false;
      full = false;
    }
    connection.node.poller().wake();
  }

  /** Sends as much as there is room for; whether anything was sent. Poller only. */
  boolean flush() {
    if (empty) {
      return false;
    }
    boolean done = false;
    boolean asked = false;
    while (true) {
      Waiting first;
      synchronized (this) {
        first = queue.peek();
        empty = first == null;
      }
      if (first == null) {
        return done;
      }
      int before = first.sent;
      long result = send(first);
      done |= first.sent != before;
      if (result != Peer.BACK_PRESSURED) {
        done = true;
        asked = false;
        synchronized (this) {
          bytes -= first.memory.byteSize();
          queue.remove();
          full = false;
        }
      } else if (asked) {
        full = true;
        return done;
      } else {
        // Ask for a wake-up before the last attempt, so that no room is missed in between. One
        // request yields one wake-up, so each failed attempt has to ask again.
        connection.link().out(RingPair.CONTROL).want();
        asked = true;
      }
    }
  }

  private long send(Waiting what) {
    ThreadContext context = ThreadContext.current();
    Sender sender = connection.sender();
    RecordHead head = context.head.of(what.type, what.kind, what.slot, what.generation, 0);
    int size = (int) what.memory.byteSize();
    if (sender.fits(RingPair.CONTROL, head, size)) {
      return sender.put(context, what.memory, 0, size, RingPair.CONTROL, head);
    }
    if (what.stream == 0) {
      what.stream = connection.newStream();
    }
    long result = Peer.LOST;
    while (what.sent < size) {
      int length = Math.min(sender.slicePayload(RingPair.CONTROL), size - what.sent);
      RecordHead slice = head.slice(what.stream, what.sent, size);
      result = sender.put(context, what.memory, what.sent, length, RingPair.CONTROL, slice);
      if (result < 0) {
        return result;
      }
      what.sent += length;
    }
    return result;
  }
}
