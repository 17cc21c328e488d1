// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.ring.RingBrokenException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** Puts large messages together, of one lane of one connection. Whoever reads the lane. */
final class Assembly {
  private static final int MOST_STREAMS = 1024;

  private static final class Large {
    final int total;
    final int type;
    final byte kind;
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
  private final Map<Integer, Large> streams = new HashMap<>();

  Assembly(Connection connection) {
    this.connection = connection;
  }

  /** Takes a slice; false if the whole cannot be delivered now, and the slice shall come again. */
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
      large = begin(stream, total, Records.type(memory, at), Records.whole(memory, at));
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

  private Large begin(int stream, int total, int type, byte kind) {
    if (streams.size() >= MOST_STREAMS || total <= 0) {
      throw new RingBrokenException(
          "a large message of " + total + " bytes, " + streams.size() + " are under way");
    }
    if (total > connection.node.options().largest() && kind != Records.ANSWER) {
      throw new RingBrokenException("a message of " + total + " bytes, more than was said");
    }
    boolean room = connection.node.slabs().takeLarge(total);
    Large large = new Large(total, type, kind, room ? Arena.ofAuto().allocate(total, 8) : null);
    streams.put(stream, large);
    return large;
  }

  private boolean finish(int stream, Large large, MemorySegment memory, long at) {
    int slot = Records.sliceSlot(memory, at);
    int generation = Records.sliceGeneration(memory, at);
    if (large.memory == null) {
      streams.remove(stream);
      noMemory(large, slot, generation);
      return true;
    }
    if (large.kind == Records.ANSWER) {
      connection.completeAnswer(slot, generation, large.type, large.memory, 0, large.total);
      drop(stream, large);
      return true;
    }
    if (large.kind != Records.MESSAGE && large.kind != Records.REQUEST) {
      throw new RingBrokenException("a large record of kind " + large.kind);
    }
    boolean delivered =
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
    if (delivered) {
      streams.remove(stream); // its memory is given back by who was given it
    }
    return delivered;
  }

  private void noMemory(Large large, int slot, int generation) {
    String why = "no memory for a message of " + large.total + " bytes: raise receiveBudget";
    connection.node.delivery().dropped(connection, large.type, why);
    if (large.kind == Records.REQUEST) {
      connection.answerFailure(slot, generation, MessagingException.Code.NO_ROOM, why);
    } else if (large.kind == Records.ANSWER) {
      CallSlot call = connection.node.calls().at(slot);
      if (call != null) {
        boolean unused = call.fail(connection, generation, MessagingException.Code.NO_ROOM, why);
      }
    }
  }

  private void drop(int stream, Large large) {
    streams.remove(stream);
    if (large != null && large.memory != null) {
      connection.node.slabs().giveBackLarge(large.total);
    }
  }

  /** Gives all back that is not complete. */
  void forget() {
    for (Map.Entry<Integer, Large> each : Map.copyOf(streams).entrySet()) {
      drop(each.getKey(), each.getValue());
    }
  }
}
