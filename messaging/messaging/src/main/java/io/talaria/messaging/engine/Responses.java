// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.records.Encoder;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The responses of a connection in both directions, and the requests that its peer has cancelled.
 * Any thread sends, and never waits; the holder of the control ring's receiver receives.
 */
final class Responses {
  /** In their order on the wire: new ones come last. */
  private static final List<MessagingException.Code> CODES =
      List.of(MessagingException.Code.values());

  private static final int MAX_TEXT_BYTES = 1000;

  private final Connection connection;

  /**
   * One above the generations of requests that the peer has cancelled, by slot; made when needed.
   */
  private volatile int[] cancelled;

  Responses(Connection connection) {
    this.connection = connection;
  }

  /** Sends a response, now or when there is room. */
  void send(ThreadContext context, TypeEntry type, Object response, int slot, int generation) {
    RecordHead head = context.head.of(type.index, Records.RESPONSE, slot, generation, 0);
    Outbox outbox = connection.outbox();
    long result = Peer.TOO_LARGE;
    if (outbox.isEmpty()) {
      result = connection.sender().put(context, type, response, RingPair.CONTROL, head);
    }
    if (result != Peer.LOST && result < 0) {
      int size = Encoder.size(context, type.codec, response);
      if (size > connection.maxThere) {
        fail(
            slot,
            generation,
            MessagingException.Code.TOO_LARGE,
            "the response has " + size + " bytes, the largest may have " + connection.maxThere);
      } else if (outbox.hasRoom(size)) {
        MemorySegment encoded = Arena.ofAuto().allocate(Math.max(1, size), 8);
        Encoder.encode(context, type, response, size, encoded);
        outbox.put(encoded.asSlice(0, size), type.index, Records.RESPONSE, slot, generation);
      } else {
        fail(
            slot,
            generation,
            MessagingException.Code.BACK_PRESSURED,
            "too many responses wait for room");
      }
    }
  }

  /** Tells the peer that there will be no response. */
  void fail(int slot, int generation, MessagingException.Code code, String text) {
    byte[] utf8 = String.valueOf(text).getBytes(StandardCharsets.UTF_8);
    int length = Math.min(utf8.length, MAX_TEXT_BYTES);
    byte[] payload = new byte[1 + length];
    payload[0] = (byte) CODES.indexOf(code);
    System.arraycopy(utf8, 0, payload, 1, length);
    connection.control(Records.FAILURE, slot, generation, payload);
  }

  /** A response has come. */
  void received(int slot, int generation, int type, MemorySegment memory, long offset, int bytes) {
    ResponseSlot pending = connection.node.responseSlots().at(slot);
    if (pending == null || !complete(pending, generation, type, memory, offset, bytes)) {
      connection.node.counts().late();
    }
  }

  private boolean complete(
      ResponseSlot pending,
      int generation,
      int type,
      MemorySegment memory,
      long offset,
      int bytes) {
    TypeEntry entry = type < connection.types.length ? connection.types[type] : null;
    if (entry == null) {
      String mismatch = connection.mismatch(type);
      if (!mismatch.isEmpty()) {
        String why =
            connection.typeNames[type] + ": the type has other components there" + mismatch;
        return pending.fail(connection, generation, MessagingException.Code.TYPE_MISMATCH, why);
      }
    }
    boolean byWaiter = connection.leading().leadsFor(pending);
    return pending.complete(connection, generation, entry, memory, offset, bytes, byWaiter);
  }

  /** A FAILURE has come: there will be no response. */
  void failureReceived(MemorySegment memory, long at, int length) {
    int payload = length - Records.RESPONSE_HEADER;
    byte[] bytes = new byte[payload];
    MemorySegment.copy(
        memory, ValueLayout.JAVA_BYTE, at + Records.RESPONSE_HEADER, bytes, 0, payload);
    if (payload < 1 || bytes[0] < 0 || bytes[0] >= CODES.size()) {
      throw new RingBrokenException("a failure without a code");
    }
    String text = new String(bytes, 1, payload - 1, StandardCharsets.UTF_8);
    ResponseSlot pending = connection.node.responseSlots().at(Records.slot(memory, at));
    if (pending == null
        || !pending.fail(connection, Records.generation(memory, at), CODES.get(bytes[0]), text)) {
      connection.node.counts().late();
    }
  }

  /** CANCEL has come. */
  void cancelReceived(int slot, int generation) {
    if (slot < 0 || slot >= ResponseSlots.MAX_SLOTS) {
      throw new RingBrokenException("slot " + slot + " is cancelled");
    }
    int[] table = cancelled;
    if (table == null) {
      table = new int[ResponseSlots.MAX_SLOTS];
      cancelled = table;
    }
    table[slot] = generation + 1;
  }

  /** Whether the peer does not wait for a response any more. Any thread. */
  boolean cancelled(int slot, int generation) {
    int[] table = cancelled;
    return connection.dead()
        || (table != null && slot >= 0 && slot < table.length && table[slot] == generation + 1);
  }
}
