// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.MessagingException.Code;
import io.talaria.messaging.Peer;
import io.talaria.messaging.counters.Recorded;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.dispatch.Waiters;
import io.talaria.messaging.records.Encoder;
import io.talaria.messaging.records.Positions;
import io.talaria.messaging.records.RecordHead;
import io.talaria.messaging.records.Records;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingCopy;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.transport.Link;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.types.TypeEntry;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Puts the records of a connection into its two rings, and lets threads wait for room or delivery.
 * Any thread; only the {@code await} methods wait. Both are one class, because a ring that is
 * sealed, grows or ends meanwhile means the same to both.
 */
public final class Sender {
  /** The largest record, header included; larger messages go in slices of at most this size. */
  public static final int MAX_RECORD = 32 << 10;

  /**
   * The largest message that a codec of the program writes directly into the ring. It may be slow,
   * and while its claim is open the consumer sees no later record; so larger messages are encoded
   * outside the ring first.
   */
  private static final int MAX_IN_PLACE = 4096;

  /** Of {@link #await}: whichever receivers are held back. */
  private static final int NO_RECEIVER = -1;

  /**
   * Slices leave a quarter of the ring to other messages: a slice requires its own bytes and the
   * capacity shifted right by this, and {@link RingProducer#hasRoom} doubles the sum.
   */
  private static final int SPARE_SHIFT = 3;

  /**
   * Of {@link #put}: the message fits into one record once the ring has grown, which was asked for.
   * Until then it can only go in slices.
   */
  public static final long LARGER_SOON = -100;

  /** The data ring's capacity shifted right by this is sent before {@link #lookForHold} looks. */
  private static final int LOOK_SHIFT = 2;

  private final Connection connection;
  private final Link link;
  private final Waiters waiters = new Waiters();

  /** The end of what was sent when a thread last looked for HOLD. Any thread. */
  private long lookedAt;

  /** The position delivered when the other end ended, as the rings may be unmapped afterwards. */
  private volatile long deliveredAtEnd;

  Sender(Connection connection, Link link) {
    this.connection = connection;
    this.link = link;
  }

  private RingProducer dataRing() {
    return link.out(RingPair.DATA);
  }

  private RingProducer controlRing() {
    return link.out(RingPair.CONTROL);
  }

  /** The largest record in a ring of this capacity, header included. */
  private static int maxRecordOf(int capacity) {
    return Math.min(MAX_RECORD, capacity >>> 3);
  }

  /** The largest record that fits a priority's current ring, header included. */
  public int maxRecord(int priority) {
    return maxRecordOf(link.out(priority).capacity());
  }

  /** The most bytes of a large message in one slice, in the current ring. */
  public int slicePayload(int priority) {
    return maxRecord(priority) - Records.SLICE_HEADER;
  }

  /** Whether a payload fits into one record of the current ring. */
  boolean fits(int priority, RecordHead head, int size) {
    int bytes = Records.aligned(head.bytes() + size);
    return bytes <= maxRecord(priority) && bytes > 0;
  }

  /** For a payload that does not fit now: asks for a larger ring if it would fit there. */
  private long tooLarge(int priority, RecordHead head, int size) {
    int bytes = Records.aligned(head.bytes() + size);
    if (bytes > maxRecordOf(link.maxCapacity(priority)) || bytes <= 0 || !link.canGrow(priority)) {
      return Peer.TOO_LARGE;
    }
    connection.wantLarger(priority);
    return LARGER_SOON;
  }

  // ---- putting records

  /**
   * Puts a message into a ring, encoded in place if possible.
   *
   * @return a position, a negative constant of {@link Peer}, or {@link #LARGER_SOON}
   */
  public long put(
      ThreadContext context, TypeEntry type, Object message, int priority, RecordHead head) {
    if (priority == RingPair.DATA && connection.holds().heldBack(head.what())) {
      return whileHeldBack();
    }
    int size = Encoder.size(context, type.codec, message);
    if (size > connection.maxThere) {
      return Peer.TOO_LARGE;
    }
    if (!fits(priority, head, size)) {
      return tooLarge(priority, head, size);
    }
    if (type.explicit && size > MAX_IN_PLACE) {
      MemorySegment scratch = context.scratch(size);
      Encoder.encode(context, type, message, size, scratch);
      return put(context, null, null, scratch, 0, size, priority, head);
    }
    return put(context, type, message, null, 0, size, priority, head);
  }

  /** Puts a payload that is already encoded; results as above. */
  public long put(
      ThreadContext context,
      MemorySegment from,
      long offset,
      int size,
      int priority,
      RecordHead head) {
    return fits(priority, head, size)
        ? put(context, null, null, from, offset, size, priority, head)
        : tooLarge(priority, head, size);
  }

  private long put(
      ThreadContext context,
      TypeEntry type,
      Object message,
      MemorySegment from,
      long offset,
      int size,
      int priority,
      RecordHead head) {
    RingProducer ring = link.out(priority);
    int header = head.bytes();
    int bytes = Records.aligned(header + size);
    long result = Peer.LOST; // once it is committed its position: it must not be sent again
    try {
      long claim = ring.tryClaim(bytes);
      if (claim < 0) {
        return refused(priority, ring, claim);
      }
      boolean good = false;
      context.claims(connection, type);
      try {
        MemorySegment memory = ring.memory();
        long at = ring.offset(claim);
        head.write(memory, at);
        if (message != null) {
          context.out.over(memory, at + header, size);
          Encoder.write(context, type, message, size);
        } else {
          RingCopy.copy(from, offset, memory, at + header, size);
        }
        good = true;
      } finally {
        try {
          if (good) {
            connection.leading().startIfWanted(context);
            ring.commit(claim, header + size);
          } else {
            ring.abort(claim, bytes);
          }
        } finally { // they throw if the ring was unmapped meanwhile
          context.claimed();
        }
      }
      long end = ring.endOf(claim, bytes);
      result = Positions.of(connection.number, end);
      if (ring.mustWake()) {
        if (context.leads) {
          link.wakePeerAtOnce();
        } else {
          link.wakePeer();
        }
      }
      if (priority == RingPair.DATA) {
        lookForHold(ring, end);
      }
      return result;
    } catch (IllegalStateException e) {
      if (connection.dead()) {
        return result; // unmapped meanwhile
      }
      throw e;
    } catch (RingBrokenException e) {
      connection.broken(e);
      return result;
    }
  }

  /** The result of {@link #put} for a caller that does not send in slices. */
  public static long orNoRoom(long result) {
    return result == LARGER_SOON ? Peer.BACK_PRESSURED : result;
  }

  /**
   * Reads what the peer has told, each time a quarter of a ring in shared memory was sent. The
   * poller does so as well, but it may not have a core while threads send more than the peer can
   * keep; then the peer would stop reading, and messages for other receivers would wait, too. On a
   * stream no thread can send much before the poller has read HOLD: room comes after it.
   *
   * @param end the position after what was sent
   */
  private void lookForHold(RingProducer ring, long end) {
    if (RingProducer.bytesBetween(lookedAt, end) > ring.capacity() >>> LOOK_SHIFT) {
      lookedAt = end;
      if (!link.copies()) {
        connection.leading().lookOnce();
      }
    }
  }

  /** The result of sending to a receiver that is held back, whether or not there is room. */
  public long whileHeldBack() {
    RingProducer ring = dataRing();
    try {
      return ring.sealed() && !link.grows(RingPair.DATA, ring) ? Peer.LOST : Peer.BACK_PRESSURED;
    } catch (IllegalStateException e) {
      if (connection.dead()) {
        return Peer.LOST;
      }
      throw e;
    }
  }

  private long refused(int priority, RingProducer ring, long claim) {
    if (claim == RingProducer.BACK_PRESSURED) {
      if (link.canGrow(priority)) {
        connection.wantLarger(priority);
      }
      return Peer.BACK_PRESSURED;
    }
    return link.grows(priority, ring) ? Peer.BACK_PRESSURED : Peer.LOST;
  }

  // ---- waiting

  /**
   * Waits until {@link #holds} is true or the connection ends; false if the deadline passes first.
   *
   * @param position to wait for its delivery; else 0
   * @param bytes to wait for room for them in the data ring; else 0
   * @param what with {@code bytes}: also waits until this receiver is not held back, unless it is
   *     {@link #NO_RECEIVER}
   * @param stream to wait until the other end grants it memory; else 0
   */
  private boolean await(long position, long bytes, int what, int stream, long deadlineNs)
      throws MessagingException {
    Handlers own = Handlers.beginWait();
    Object recorded = Recorded.begin();
    waiters.enter();
    try {
      while (!connection.ended()) {
        dataRing().want();
        if (holds(position, bytes, what, stream)) {
          return true;
        }
        if (!park(deadlineNs)) {
          return false;
        }
      }
      return true;
    } catch (IllegalStateException e) {
      if (connection.dead()) {
        return true;
      }
      throw e;
    } catch (RingBrokenException e) {
      connection.broken(e);
      return true;
    } finally {
      leave();
      Handlers.endWait(own);
      Recorded.waited(recorded, position == 0 ? "room" : "delivered", connection.peer.id());
    }
  }

  private boolean holds(long position, long bytes, int what, int stream) {
    if (position != 0) {
      return Positions.reached(position, dataRing().delivered());
    }
    RingProducer data = dataRing();
    if (stream != 0) { // a ring that is about to be continued is sealed, too: that grants nothing
      return connection.largeTransfers().granted(stream)
          || (data.sealed() && !link.grows(RingPair.DATA, data));
    }
    return data.sealed()
        || (data.hasRoom(bytes) && (what == NO_RECEIVER || !connection.holds().heldBack(what)));
  }

  private void leave() {
    waiters.leave();
    if (!waiters.none()) {
      return;
    }
    try {
      dataRing().wantNoMore();
    } catch (IllegalStateException e) {
      if (!connection.dead()) {
        throw e;
      }
    }
    // A thread that has begun to wait meanwhile may have asked for a wake-up before that request
    // was withdrawn: wake it, so that it asks again.
    VarHandle.fullFence();
    connection.wantWithdrawn();
  }

  private static boolean park(long deadlineNs) throws MessagingException {
    long left = deadlineNs - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    LockSupport.parkNanos(left);
    if (Thread.currentThread().isInterrupted()) {
      throw new MessagingException(Code.CANCELLED, "the thread was interrupted while it waited");
    }
    return true;
  }

  /**
   * Waits for room for a message to a receiver that is not held back; true also if the connection
   * ends, false if the deadline passes first.
   */
  public boolean awaitRoom(long bytes, int what, long deadlineNs) throws MessagingException {
    return await(0, bytes, what, 0, deadlineNs);
  }

  /** The same for a slice, which must leave room for other messages. */
  public boolean awaitRoomForSlice(long deadlineNs) throws MessagingException {
    RingProducer data = dataRing();
    long bytes = (long) maxRecord(RingPair.DATA) + (data.capacity() >>> SPARE_SHIFT);
    try {
      if (data.sealed() || data.hasRoom(bytes)) {
        return true;
      }
      if (link.canGrow(RingPair.DATA)) {
        connection.wantLarger(RingPair.DATA);
      }
    } catch (IllegalStateException e) {
      if (!connection.dead()) {
        throw e;
      }
    } catch (RingBrokenException e) {
      connection.broken(e);
    }
    return awaitRoom(bytes, NO_RECEIVER, deadlineNs); // a message that has begun is not held back
  }

  /** Waits until the other end grants memory for a large message; results as above. */
  boolean awaitGrant(int stream, long deadlineNs) throws MessagingException {
    return await(0, 0, NO_RECEIVER, stream, deadlineNs);
  }

  /** See {@link Peer#awaitDelivered}. */
  public boolean awaitDelivered(long position, long deadlineNs) throws MessagingException {
    if (!await(position, 0, NO_RECEIVER, 0, deadlineNs)) {
      return false;
    }
    if (!connection.ended() || Positions.reached(position, deliveredAtEnd)) {
      return true;
    }
    throw new MessagingException(Code.LOST, connection.closing().failure());
  }

  /** Wakes all waiting threads, which check again. */
  void wake() {
    waiters.wake();
  }

  // ---- state

  /** Bytes that were sent and that the other end has not removed from the rings. */
  public long unconsumedBytes() {
    try {
      return dataRing().unconsumedBytes() + controlRing().unconsumedBytes();
    } catch (RingBrokenException | IllegalStateException e) {
      return 0;
    }
  }

  /**
   * Bytes that were sent and whose delivery is unknown: those of messages and requests that the
   * other end has not reported as delivered, and of what is left in the control ring.
   */
  long unacknowledgedBytes() {
    try {
      RingProducer data = dataRing();
      return RingProducer.bytesBetween(data.delivered(), data.claimed())
          + controlRing().unconsumedBytes();
    } catch (RingBrokenException | IllegalStateException e) {
      return 0;
    }
  }

  public long roomBytes() {
    try {
      RingProducer data = dataRing();
      return connection.dead() ? 0 : Math.max(0, data.capacity() - data.unconsumedBytes());
    } catch (IllegalStateException | RingBrokenException e) {
      return 0;
    }
  }

  /** Whether no thread waits, and all that was sent was delivered. */
  boolean idle() {
    return waiters.none() && unconsumedBytes() == 0 && allDelivered();
  }

  /** Whether all messages that were sent were delivered to the program at the other end. */
  public boolean allDelivered() {
    try {
      return dataRing().delivered() == dataRing().claimed();
    } catch (IllegalStateException e) {
      return true; // unmapped: the connection has ended
    }
  }

  /** The position behind the last record of the data ring. */
  public long end() {
    return dataRing().claimed();
  }

  /** Ends the data ring: no more messages and requests. */
  void sealData() {
    seal(RingPair.DATA);
  }

  /** Ends both rings: no more records. */
  public void seal() {
    seal(RingPair.DATA);
    seal(RingPair.CONTROL);
  }

  private void seal(int priority) {
    try {
      link.seal(priority);
    } catch (IllegalStateException e) {
      if (!connection.dead()) {
        throw e;
      }
    }
  }

  /** Keeps and returns the position delivered, for calls after the rings are unmapped. */
  long rememberDelivered() {
    try {
      deliveredAtEnd = dataRing().delivered();
    } catch (IllegalStateException e) {
      // Unmapped already: the position was kept by an earlier call.
    }
    return deliveredAtEnd;
  }

  /** Whether no thread writes into the sealed rings any more, so that they may be unmapped. */
  public boolean quiet() {
    return dataRing().quiet() && controlRing().quiet();
  }
}
