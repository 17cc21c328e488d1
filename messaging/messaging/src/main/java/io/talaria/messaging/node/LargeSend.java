// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.Peer;
import io.talaria.messaging.codec.SegmentWriter;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.engine.ResponseSlot;
import io.talaria.messaging.engine.Sender;
import io.talaria.messaging.records.Encoder;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.MemorySegment;

/**
 * Sends one message or request that is larger than a record. For one thread.
 *
 * <p>The codec writes one slice after the other, and each slice is sent when it is full. So other
 * threads' messages go between the slices, and this node needs no memory for the whole message.
 */
final class LargeSend implements SegmentWriter.Overflow {
  /** Thrown through the codec to stop it when the message can no longer be sent. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Stopped() {
      super("the message cannot be sent any more", null, false, false);
    }
  }

  private static final long NEVER = Long.MAX_VALUE;

  private final Connection to;
  private final Sender sender;
  private final ThreadContext context;
  private final TypeEntry type;
  private final byte kind;
  private final int slot;
  private final int generation;
  private final int limitUs;
  private final long deadlineNs;

  /**
   * When the timeout of the whole request passes; {@link #NEVER} for a message, and for a request
   * whose timeout is longer than any send.
   */
  private final long requestUntilNs;

  private MemorySegment memory;
  private int stream;
  private int total;
  private int sent;
  private long result = Peer.LOST;
  private MessagingException failure;

  /**
   * For one attempt to send.
   *
   * @param slot a request's, else null
   * @param deadlineNs until when to wait for room to begin
   */
  LargeSend(
      Connection to,
      ThreadContext context,
      TypeEntry type,
      byte kind,
      ResponseSlot slot,
      int generation,
      int limitUs,
      long deadlineNs) {
    this.to = to;
    sender = to.sender();
    this.context = context;
    this.type = type;
    this.kind = kind;
    this.slot = slot == null ? 0 : slot.index;
    boolean never = slot == null || limitUs == Records.NO_LIMIT;
    requestUntilNs = never ? NEVER : slot.begunNs + limitUs * 1000L;
    this.generation = generation;
    this.limitUs = limitUs;
    this.deadlineNs = deadlineNs;
  }

  /**
   * Sends the whole message.
   *
   * @return a position, or {@link Peer#LOST} if the connection has ended
   * @throws MessagingException TOO_LARGE; BACK_PRESSURED if the other end has too little room or
   *     memory within the timeout; CANCELLED if the thread was interrupted
   */
  long send(Object message) throws MessagingException {
    total = Encoder.size(context, type.codec, message);
    if (total > to.maxThere) {
      throw new MessagingException(
          Code.TOO_LARGE,
          type.name()
              + " of "
              + total
              + " bytes, the largest that node "
              + to.peer.id()
              + " takes has "
              + to.maxThere
              + " (NodeOptions.maxMessageBytes)");
    }
    if (!to.largeTransfers().begin(deadlineNs)) {
      throw RemotePeer.noRoom(to);
    }
    stream = to.newStream();
    boolean whole = false;
    boolean granted = false;
    try {
      memory = context.scratch(Sender.MAX_RECORD);
      if (total > Records.ASK_ABOVE) {
        granted = to.largeTransfers().awaitGrant(stream, total, deadlineNs);
        if (!granted) {
          throw noMemory();
        }
      }
      begin(context.out);
      Encoder.write(context, type, message, total);
      put(total - sent);
      whole = true;
    } catch (Stopped e) {
      if (failure != null) {
        throw failure;
      }
    } finally {
      if (whole || sent == 0) {
        if (granted && !whole) {
          to.control(Records.BIG_NO, stream, total);
        }
        to.largeTransfers().end();
      } else {
        to.largeTransfers().abort(stream, total, type.index, kind);
      }
    }
    return result;
  }

  private MessagingException noMemory() {
    return new MessagingException(
        Code.BACK_PRESSURED,
        "node "
            + to.peer.id()
            + " has no memory for "
            + total
            + " bytes within the timeout: its receivers are slow, or its receiveBudget is small");
  }

  private void begin(SegmentWriter out) {
    int room = Math.min(sender.slicePayload(RingPair.DATA), total - sent);
    out.over(memory, 0, room, total - sent - room, this);
  }

  @Override
  public void full(SegmentWriter out, int used) {
    put(used);
    begin(out);
  }

  private void put(int length) {
    try {
      RecordHead head = context.head.of(type.index, kind, slot, generation, limitUs);
      do {
        long limit = sent == 0 ? deadlineNs : laterLimit();
        if (!sender.awaitRoomForSlice(limit)) {
          throw RemotePeer.noRoom(to);
        }
        result =
            sender.put(context, memory, 0, length, RingPair.DATA, head.slice(stream, sent, total));
      } while (result == Peer.BACK_PRESSURED);
    } catch (MessagingException e) {
      failure = e;
    }
    if (failure != null || result < 0) {
      throw new Stopped();
    }
    sent += length;
  }

  /**
   * Until when to wait with a slice that is not the first. Each has a limit of its own, as a large
   * message may take longer than sendTimeout while the receiver makes progress. But a request takes
   * no longer than its timeout.
   */
  private long laterLimit() throws MessagingException {
    long now = System.nanoTime();
    long limit = now + to.node.sendTimeoutNs();
    if (requestUntilNs == NEVER || limit - requestUntilNs <= 0) {
      return limit;
    }
    if (requestUntilNs - now <= 0) {
      throw RemotePeer.noRoom(to); // although there may be room: no response can come in time
    }
    return requestUntilNs;
  }
}
