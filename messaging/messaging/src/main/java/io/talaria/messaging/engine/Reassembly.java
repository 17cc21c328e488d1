// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.ring.RingBrokenException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Reassembles the large messages that arrive in slices through one ring of one connection. Used by
 * the thread that reads the ring; the methods for announced messages (BIG) are for the data ring,
 * and for the poller only.
 */
final class Reassembly {
  private static final int MAX_ASKED = 1024;

  private static final class Large {
    final int total;
    final int type;
    final byte kind;

    /** Null if there was no memory for a response: its slices are skipped. */
    MemorySegment memory;

    int got;

    Large(int total, int type, byte kind, MemorySegment memory) {
      this.total = total;
      this.type = type;
      this.kind = kind;
      this.memory = memory;
    }
  }

  private final Connection connection;

  /** Whether this is for the control ring, which carries responses only. */
  private final boolean responses;

  private final Map<Integer, Large> streams = new HashMap<>();

  /** Bytes granted to streams that have not begun. */
  private final Map<Integer, Integer> granted = new HashMap<>();

  /** Streams for which the sender has asked, granted or not, and that have not begun. */
  private final Set<Integer> asked = new HashSet<>();

  /** Incomplete messages that were sent without asking. */
  private int unasked;

  Reassembly(Connection connection, boolean responses) {
    this.connection = connection;
    this.responses = responses;
  }

  private LargeMemory pool() {
    return connection.node.largeMemory();
  }

  /** Handles BIG: the sender asks for memory. */
  void asked(int stream, int total) {
    boolean fits = total > 0 && total <= connection.node.options().maxMessageBytes();
    if (!fits || asked.size() >= MAX_ASKED || !asked.add(stream)) {
      throw new RingBrokenException(
          "stream " + stream + " of " + total + " bytes is asked for, beside " + asked.size());
    }
    pool().ask(new LargeMemory.Asked(this, stream, total));
  }

  /** Grants a stream the memory that {@link LargeMemory} has taken for it. */
  void granted(int stream, int total) {
    if (connection.dead()) {
      pool().undoTake(total);
    } else {
      granted.put(stream, total);
      connection.control(Records.BIG_OK, stream, total);
    }
  }

  /** Handles BIG_NO: the sender no longer wants the memory for which it has asked. */
  void askedNoMore(int stream) {
    Integer total = granted.remove(stream);
    if (total != null) {
      pool().giveBack(total);
    } else if (!pool().forget(this, stream)) {
      throw new RingBrokenException("stream " + stream + " was not asked for");
    }
    asked.remove(stream);
  }

  /**
   * Handles a slice.
   *
   * @return false if this must be called with the same slice again later: there is no memory to
   *     begin the message, or the complete message cannot be delivered yet
   */
  boolean slice(MemorySegment memory, long at, int length) {
    int bytes = length - Records.SLICE_HEADER;
    int stream = Records.stream(memory, at);
    int offset = Records.offset(memory, at);
    int total = Records.total(memory, at);
    Large large = streams.get(stream);
    if (offset == Records.ABORT) {
      drop(stream, large);
      return true;
    }
    if (large == null) {
      if (offset != 0) {
        throw new RingBrokenException("stream " + stream + " begins at " + offset);
      }
      large =
          begin(stream, total, Records.typeIn(Records.head(memory, at)), Records.whole(memory, at));
      if (large == null) {
        return false;
      }
    }
    if (large.total != total
        || bytes <= 0
        || bytes > total - offset
        || (offset != large.got && offset + bytes != large.got)) {
      throw new RingBrokenException(
          "slice at " + offset + " of " + bytes + " bytes, of " + total + ", with " + large.got);
    }
    if (offset == large.got) {
      if (large.memory != null) {
        MemorySegment.copy(memory, at + Records.SLICE_HEADER, large.memory, offset, bytes);
      }
      large.got += bytes;
    }
    return large.got < total || finish(stream, large, memory, at);
  }

  /** Begins a message; null if its first slice must stay unread for now. */
  private Large begin(int stream, int total, int type, byte kind) {
    boolean message = kind == Records.MESSAGE || kind == Records.REQUEST;
    boolean fits = responses || total <= connection.node.options().maxMessageBytes();
    if (total <= 0 || !fits || (responses ? kind != Records.RESPONSE : !message)) {
      throw new RingBrokenException("a large record of kind " + kind + " and " + total + " bytes");
    }
    boolean room = responses ? beginResponse(total) : beginMessage(stream, total);
    if (!room && !responses) {
      return null;
    }
    Large large = new Large(total, type, kind, room ? allocate(total) : null);
    streams.put(stream, large);
    return large;
  }

  /**
   * Allocates memory; null if there is none for a response, which then fails. A message without
   * memory ends the connection instead.
   */
  private MemorySegment allocate(int total) {
    try {
      return pool().allocate(total);
    } catch (OutOfMemoryError e) {
      pool().giveBack(total);
      if (responses) {
        return null;
      }
      if (total <= Records.ASK_ABOVE) {
        unasked--;
      }
      throw e;
    }
  }

  private boolean beginResponse(int total) {
    if (streams.size() >= MAX_ASKED) {
      throw new RingBrokenException(streams.size() + " large responses at a time");
    }
    return pool().take(total);
  }

  private boolean beginMessage(int stream, int total) {
    if (total > Records.ASK_ABOVE) {
      Integer said = granted.remove(stream);
      if (said == null || said != total) {
        throw new RingBrokenException("a message of " + total + " bytes was not granted");
      }
      asked.remove(stream);
      return true;
    }
    if (unasked >= Records.MAX_UNASKED) {
      throw new RingBrokenException(unasked + " large messages at a time");
    }
    if (!pool().takeUnasked(total)) {
      return false;
    }
    unasked++;
    return true;
  }

  private boolean finish(int stream, Large large, MemorySegment memory, long at) {
    int slot = Records.sliceSlot(memory, at);
    int generation = Records.sliceGeneration(memory, at);
    if (large.memory == null) {
      remove(stream, large);
      noMemory(large, slot, generation);
      return true;
    }
    if (responses) {
      connection.responses().received(slot, generation, large.type, large.memory, 0, large.total);
      drop(stream, large);
      return true;
    }
    pool().hand(large.total);
    boolean delivered = false;
    try {
      delivered =
          connection
              .node
              .delivery()
              .deliver(
                  connection,
                  large.type,
                  large.kind,
                  slot,
                  generation,
                  Records.sliceLimitUs(memory, at),
                  large.memory,
                  0,
                  large.total,
                  large.total);
    } finally {
      if (!delivered) {
        pool().handBack(large.total);
      }
    }
    if (delivered) {
      remove(stream, large); // delivery gives the memory back once the message was read
    }
    return delivered;
  }

  private void noMemory(Large large, int slot, int generation) {
    String why = "no memory for a response of " + large.total + " bytes: raise receiveBudget";
    ResponseSlot pending = connection.node.responseSlots().at(slot);
    if (pending != null) {
      pending.fail(connection, generation, MessagingException.Code.BACK_PRESSURED, why);
    }
  }

  private void remove(int stream, Large large) {
    streams.remove(stream);
    if (!responses && large.total <= Records.ASK_ABOVE) {
      unasked--;
    }
  }

  private void drop(int stream, Large large) {
    if (large != null) {
      remove(stream, large);
      if (large.memory != null) {
        pool().giveBack(large.total, large.memory);
      }
    }
  }

  /** Gives back the memory of all incomplete and announced messages: the connection has ended. */
  void forget() {
    pool().forget(this);
    granted.values().forEach(pool()::giveBack);
    granted.clear();
    for (Map.Entry<Integer, Large> each : Map.copyOf(streams).entrySet()) {
      drop(each.getKey(), each.getValue());
    }
  }
}
