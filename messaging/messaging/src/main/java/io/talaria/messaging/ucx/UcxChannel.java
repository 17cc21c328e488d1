// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.StreamChunk;
import io.talaria.ucx.transport.FailureCheck;
import io.talaria.ucx.transport.SendsInFlight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An endpoint to one process of another node, and the frames sent and received on its stream. Only
 * for the holder of the worker.
 *
 * <p>A frame is sent from its records' place in the ring. A small frame is first copied next to its
 * header, so that UCX gets it in one piece. UCX mostly completes a send at once. Otherwise the send
 * is queued until UCX completes it, and the ring is freed in the order of the queue.
 */
final class UcxChannel {
  /** The maximum number of sends that UCX has not completed, a power of two. */
  private static final int MAX_IN_FLIGHT = 128;

  private static final int SLOT_BYTES = 512;

  /** The maximum bytes of records that are copied next to their header. */
  static final int MAX_BESIDE = SLOT_BYTES - UcxLayout.HEADER_BYTES;

  private final UcxTurns turns;
  private final String name;
  private final long tokenIn;
  private Endpoint endpoint;

  // Sending.
  private final MemorySegment slots;
  private final ByteBuffer slotBytes;

  /** The mark of each send is the word of its ring up to which it has sent. */
  private final SendsInFlight sends;

  /** Whose records the send in a slot has, or null. */
  private final UcxLink[] senders = new UcxLink[MAX_IN_FLIGHT];

  private final int[] priorities = new int[MAX_IN_FLIGHT];

  // Receiving.
  private final StreamChunk chunk = new StreamChunk();
  private long at;
  private final ByteBuffer head =
      ByteBuffer.allocateDirect(UcxLayout.MAX_HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private boolean begun;
  private int wanted = UcxLayout.PREFACE_BYTES;
  private long toDrop;

  /** The received frame belongs to a connection that does not exist here yet. */
  private boolean held;

  private UcxLink link;
  private int lastNumber;
  private UcxLink taking;
  private long frames;

  /**
   * Starts a channel.
   *
   * @param name the node that it reaches, for people
   * @param endpoint to the other process; closed by {@link #close}
   * @param tokenIn with which the other end's stream must begin
   * @param tokenOut with which the other end wants this stream to begin
   */
  UcxChannel(UcxTurns turns, String name, Endpoint endpoint, long tokenIn, long tokenOut) {
    this.turns = turns;
    this.name = name;
    this.endpoint = endpoint;
    this.tokenIn = tokenIn;
    sends = turns.newSends(MAX_IN_FLIGHT);
    endpoint.attach(this);
    slots = Arena.ofAuto().allocate((long) MAX_IN_FLIGHT * SLOT_BYTES, 64);
    slotBytes = slots.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    slotBytes.putLong(0, UcxLayout.MAGIC).putLong(Long.BYTES, tokenOut);
    sendSlot(UcxLayout.PREFACE_BYTES);
  }

  /** Whether frames can still be sent and received. */
  boolean isOpen() {
    return endpoint != null;
  }

  /** Whether a frame was ever received. */
  boolean heard() {
    return frames != 0;
  }

  /** Whether UCX has not completed all sends. */
  boolean inFlight() {
    return !sends.isEmpty();
  }

  /** Like {@link #inFlight}, after taking out the sends that UCX has completed. */
  boolean stillInFlight() {
    boolean ignored = reap();
    return inFlight();
  }

  String transports() {
    return String.join(" ", endpoint.transports());
  }

  // ---- connections

  /** Starts a connection: from now on frames with its number are delivered to it. */
  void begin(UcxLink next) {
    link = next;
    lastNumber = next.number();
    if (held) {
      held = false;
      receive();
    }
  }

  /** Ends a connection; whether it was the current one. */
  boolean end(UcxLink ended) {
    boolean was = link == ended;
    if (was) {
      link = null;
    }
    return was;
  }

  // ---- sending

  /** Whether a frame may be sent now, which may take two sends: the header, and the records. */
  boolean hasRoom() {
    return sends.hasRoomFor(2) && isOpen();
  }

  /** The buffer for the next frame's header, which begins at {@link #slotAt}. */
  ByteBuffer slotBytes() {
    return slotBytes;
  }

  int slotAt() {
    return sends.nextSlot() * SLOT_BYTES;
  }

  /** Tells the other process that this node sends nothing more on any connection. */
  void sendGone() {
    int slot = slotAt();
    for (int i = 0; i < UcxLayout.HEADER_BYTES; i++) {
      slotBytes.put(slot + i, (byte) 0);
    }
    slotBytes.put(slot + UcxLayout.KIND, UcxLayout.GONE);
    sendSlot(UcxLayout.HEADER_BYTES);
  }

  /** Sends what was written at {@link #slotAt}. */
  void sendSlot(int bytes) {
    post(slots, slotAt(), bytes, null, 0, 0);
  }

  /** Sends the header at {@link #slotAt} and the records of a frame. */
  void sendRun(UcxLink from, int priority, MemorySegment ring, int start, int bytes, long word) {
    if (bytes <= MAX_BESIDE) {
      int slot = slotAt();
      MemorySegment.copy(ring, start, slots, (long) slot + UcxLayout.HEADER_BYTES, bytes);
      post(slots, slot, UcxLayout.HEADER_BYTES + bytes, from, priority, word);
    } else {
      post(slots, slotAt(), UcxLayout.HEADER_BYTES, null, 0, 0);
      post(ring, start, bytes, from, priority, word);
    }
  }

  private void post(
      MemorySegment memory, long offset, int bytes, UcxLink from, int priority, long word) {
    if (endpoint == null) {
      return; // sending the header has failed
    }
    long answer = endpoint.sendStream(memory, offset, bytes, 0);
    if (answer < 0) {
      end(FailureCheck.reason((int) answer));
    } else if (answer == 0 && sends.isEmpty()) {
      sent(from, priority, word);
    } else {
      int slot = sends.nextSlot();
      senders[slot] = from;
      priorities[slot] = priority;
      sends.add(answer, word);
      turns.posted();
    }
  }

  private static void sent(UcxLink from, int priority, long word) {
    if (from != null) {
      from.sent(priority, word);
    }
  }

  /** Removes completed sends from the queue, in order; whether there were any. */
  boolean reap() {
    int before = sends.size();
    while (!sends.isEmpty()) {
      int slot = sends.oldestSlot();
      long word = sends.oldestMark();
      int status = sends.pollOldest();
      if (status == Status.IN_PROGRESS) {
        break;
      }
      UcxLink from = senders[slot];
      senders[slot] = null;
      if (status == Status.OK) {
        sent(from, priorities[slot], word);
      } else if (isOpen()) {
        end(FailureCheck.reason(status));
      }
    }
    boolean some = sends.size() != before;
    if (some && link != null) {
      turns.wants(link);
    }
    return some;
  }

  // ---- receiving

  /** Receives what has arrived. */
  void receive() {
    try {
      while (!held && isOpen()) {
        if (chunk.length() == 0) {
          long got = endpoint.receiveStream(chunk);
          if (got <= 0) {
            if (got < 0) {
              end(FailureCheck.reason((int) got));
            }
            return;
          }
          at = 0;
        }
        take();
        if (!held) {
          chunk.release();
        }
      }
    } catch (RingBrokenException e) {
      fail("protocol: " + e.getMessage());
    }
  }

  private void take() {
    while (!held && isOpen()) {
      long left = chunk.length() - at;
      if (toDrop != 0 || wantsBytes() != 0) {
        if (left == 0) {
          return;
        }
        at += toDrop != 0 ? drop(left) : takeBytes(left);
      } else {
        int now = (int) Math.min(left, wanted - head.position());
        if (now != 0) {
          chunk.copyTo(at, head, now);
          at += now;
        }
        if (head.position() < wanted) {
          return;
        }
        takeHead();
      }
    }
  }

  private int wantsBytes() {
    return taking == null ? 0 : taking.wantsBytes();
  }

  private long drop(long most) {
    long now = Math.min(most, toDrop);
    toDrop -= now;
    return now;
  }

  private long takeBytes(long most) {
    int now = (int) Math.min(most, taking.wantsBytes());
    taking.takeBytes(chunk, at, now);
    return now;
  }

  private void takeHead() {
    if (!begun) {
      begin(head.getLong(0), head.getLong(Long.BYTES));
      return;
    }
    int length = head.getInt(UcxLayout.LENGTH);
    byte kind = head.get(UcxLayout.KIND);
    int number = head.getInt(UcxLayout.NUMBER);
    if (kind == UcxLayout.CREDIT && wanted == UcxLayout.HEADER_BYTES) {
      wanted = UcxLayout.CREDIT_FRAME_BYTES;
      return;
    }
    if (kind < UcxLayout.DATA || kind > UcxLayout.GONE || length < 0) {
      throw new RingBrokenException("a frame of kind " + kind + " and " + length + " bytes");
    }
    if (kind != UcxLayout.GONE && number > lastNumber) {
      held = true;
      return;
    }
    head.clear();
    wanted = UcxLayout.HEADER_BYTES;
    frames++;
    taking = link != null && link.number() == number && !link.over() ? link : null;
    if (kind == UcxLayout.GONE) {
      end("its node was closed");
    } else if (taking == null) {
      toDrop = kind == UcxLayout.DATA ? length : 0;
    } else if (kind == UcxLayout.END) {
      taking.ended();
    } else {
      taking.takeHead(head);
    }
  }

  private void begin(long magic, long token) {
    if (magic != UcxLayout.MAGIC || token != tokenIn) {
      throw new RingBrokenException(
          "the stream of "
              + name
              + " begins with "
              + Long.toHexString(magic)
              + " "
              + Long.toHexString(token)
              + ", it is another's");
    }
    begun = true;
    head.clear();
    wanted = UcxLayout.HEADER_BYTES;
  }

  // ---- the end

  /**
   * Ends the channel because the other end has violated the protocol. What it has sent is not
   * delivered.
   */
  private void fail(String reason) {
    UcxLink on = link;
    close();
    if (on != null) {
      on.fail(reason);
    }
  }

  /** Ends the channel. What has arrived is still delivered. */
  void end(String reason) {
    UcxLink on = link;
    close();
    if (on != null) {
      on.cutOff(reason);
    }
  }

  /** Closes the endpoint. {@link #reap} continues to collect sends that UCX has not completed. */
  void close() {
    if (endpoint != null) {
      Endpoint closing = endpoint;
      endpoint = null;
      turns.close(this, closing);
    }
  }

  @Override
  public String toString() {
    return name
        + (isOpen() ? ", open, " : ", closed, ")
        + sends.size()
        + " in flight, "
        + frames
        + " frames came"
        + (held ? ", held" : "");
  }
}
