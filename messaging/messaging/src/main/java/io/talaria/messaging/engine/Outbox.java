// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Peer;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Queues the responses and control records of a connection that found no room in the control ring,
 * or do not fit into one record. The poller sends them when there is room, so that the threads that
 * respond never wait. A peer for which too many wait is disconnected: it causes them faster than it
 * reads them.
 */
public final class Outbox {
  /**
   * The most bytes that may wait for a response to be added to them, unless no response waits; and
   * the most of all but responses.
   */
  private static final long MAX_BYTES = 64L << 20;

  /** Estimated bytes of an entry without its payload. */
  private static final int ENTRY_BYTES = 64;

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

    long bytes() {
      return memory.byteSize() + ENTRY_BYTES;
    }
  }

  private final Connection connection;

  /** Guarded by this. */
  private final Deque<Waiting> queue = new ArrayDeque<>();

  /** Bytes of all that waits. Guarded by this. */
  private long bytes;

  /** The part of {@link #bytes} that is not of responses. Guarded by this. */
  private long otherBytes;

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

  /** Whether a response of this many bytes may be {@link #put}. Any thread. */
  synchronized boolean hasRoom(int size) {
    return bytes == otherBytes || bytes + size <= MAX_BYTES;
  }

  /**
   * Adds a record, whose payload now belongs to this object. Ends the connection instead if too
   * many wait, unless it is a response, for which {@link #hasRoom} was asked. Any thread.
   */
  void put(MemorySegment payload, int type, byte kind, int slot, int generation) {
    Waiting last = new Waiting(payload, type, kind, slot, generation);
    if (add(last)) {
      connection.node.poller().wake();
    } else if (connection.closing().failureOr("").isEmpty()) { // else it ends already
      connection.failed("it does not read what it is told: " + MAX_BYTES + " bytes wait");
    }
  }

  private synchronized boolean add(Waiting last) {
    if (last.kind != Records.RESPONSE && otherBytes > MAX_BYTES) {
      return false;
    }
    queue.add(last);
    count(last, 1);
    empty = false;
    full = false;
    return true;
  }

  /** Counts a record that was added (1) or removed (-1). Holder of this. */
  private void count(Waiting each, int sign) {
    bytes += sign * each.bytes();
    otherBytes += each.kind == Records.RESPONSE ? 0 : sign * each.bytes();
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
          queue.remove();
          count(first, -1);
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
    // The ring may have grown meanwhile: what was begun in slices is finished in slices.
    if (what.sent == 0 && sender.fits(RingPair.CONTROL, head, size)) {
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
