// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Peer;
import io.talaria.messaging.road.Lane;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/** Answers that found no room, or are larger than a slice: the poller sends them when there is. */
final class Outbox {
  private static final long MOST_BYTES = 64L << 20;

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

  /** The last attempt found no room. */
  private volatile boolean full;

  Outbox(Connection connection) {
    this.connection = connection;
  }

  boolean isEmpty() {
    return empty;
  }

  /** Whether there is nothing to do until there is room. */
  boolean blocked() {
    return empty || full;
  }

  /** Copies a payload; false if too much waits already. Any thread. */
  boolean put(MemorySegment from, int size, int type, byte kind, int slot, int generation) {
    MemorySegment copy = Arena.ofAuto().allocate(Math.max(1, size), 8);
    MemorySegment.copy(from, 0, copy, 0, size);
    synchronized (this) {
      if (bytes + size > MOST_BYTES && bytes != 0) {
        return false;
      }
      bytes += size;
      queue.add(new Waiting(copy.asSlice(0, size), type, kind, slot, generation));
      empty = false;
      full = false;
    }
    connection.node.wakePoller();
    return true;
  }

  /** Sends what there is room for. Poller. */
  boolean flush() {
    if (empty) {
      return false;
    }
    boolean done = false;
    while (true) {
      Waiting first;
      synchronized (this) {
        first = queue.peek();
        empty = first == null;
      }
      if (first == null) {
        return done;
      }
      long result = send(first);
      if (result == Peer.NO_ROOM) {
        boolean asked = awaitRoom();
        return done || asked;
      }
      done = true;
      synchronized (this) {
        bytes -= first.memory.byteSize();
        queue.remove();
        full = false;
      }
    }
  }

  private boolean awaitRoom() {
    // Asks to be rung, and looks once more in the next turn.
    boolean first = !full;
    connection.track().out(Lane.EXPRESS).want();
    full = true;
    return first;
  }

  private long send(Waiting what) {
    int size = (int) what.memory.byteSize();
    if (Records.aligned(Records.headerOf(what.kind) + size) <= connection.sliceBytes()) {
      return connection.putRaw(
          what.memory, 0, size, what.type, Lane.EXPRESS, what.kind, what.slot, what.generation, 0);
    }
    if (what.stream == 0) {
      what.stream = connection.newStream();
    }
    while (what.sent < size) {
      int length = Math.min(connection.slicePayload(), size - what.sent);
      long result =
          connection.putSlice(
              what.memory,
              what.sent,
              length,
              size,
              what.stream,
              what.type,
              Lane.EXPRESS,
              what.kind,
              what.slot,
              what.generation,
              0);
      if (result < 0) {
        return result;
      }
      what.sent += length;
    }
    return 1;
  }
}
