// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.StreamChunk;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * An endpoint to one process of another node, from its making to its end: the frames that go and
 * come on its stream. Of whoever has the worker.
 *
 * <p>A frame is sent from where its records lie in the ring; a small one is copied beside its
 * header first, so that UCX gets it in one piece. Mostly UCX is done with it at once; if not, it
 * stands in a queue until it is, and the ring is given back in the order of the queue.
 */
final class UcxWay {
  /** Sends that UCX is not done with, a power of two. */
  private static final int MAX_IN_FLIGHT = 128;

  private static final int SLOT_BYTES = 512;

  /** The most bytes of records that go beside their header. */
  static final int MAX_BESIDE = SLOT_BYTES - UcxLayout.HEADER_BYTES;

  private final UcxFabric fabric;
  private final String name;
  private final long tokenIn;
  private Endpoint endpoint;

  // What goes.
  private final MemorySegment slots;
  private final ByteBuffer slotBytes;
  private final long[] requests = new long[MAX_IN_FLIGHT];
  private final UcxTrack[] senders = new UcxTrack[MAX_IN_FLIGHT];
  private final int[] priorities = new int[MAX_IN_FLIGHT];
  private final long[] words = new long[MAX_IN_FLIGHT];
  private int oldest;
  private int inFlight;

  // What comes.
  private final StreamChunk chunk = new StreamChunk();
  private long at;
  private final ByteBuffer head =
      ByteBuffer.allocateDirect(UcxLayout.MAX_HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private boolean begun;
  private int wanted = UcxLayout.PREFACE_BYTES;
  private long toDrop;

  /** The frame at the front is of a connection that is not there yet. */
  private boolean held;

  private UcxTrack track;
  private int lastNumber;
  private UcxTrack taking;
  private long frames;

  /**
   * Begins.
   *
   * @param name whom it reaches, for people
   * @param endpoint to the other process; closed by {@link #close}
   * @param tokenIn what the other end says first
   * @param tokenOut what it wants to hear first
   */
  UcxWay(UcxFabric fabric, String name, Endpoint endpoint, long tokenIn, long tokenOut) {
    this.fabric = fabric;
    this.name = name;
    this.endpoint = endpoint;
    this.tokenIn = tokenIn;
    endpoint.attach(this);
    slots = Arena.ofAuto().allocate((long) MAX_IN_FLIGHT * SLOT_BYTES, 64);
    slotBytes = slots.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    slotBytes.putLong(0, UcxLayout.MAGIC).putLong(Long.BYTES, tokenOut);
    sendSlot(UcxLayout.PREFACE_BYTES);
  }

  /** Whether frames can still go and come. */
  boolean isOpen() {
    return endpoint != null;
  }

  /** Whether a frame has ever come. */
  boolean heard() {
    return frames != 0;
  }

  /** Whether UCX is not done with all that was sent. */
  boolean inFlight() {
    return inFlight != 0;
  }

  String transports() {
    return String.join(" ", endpoint.transports());
  }

  /** Why it has failed, if UCX knows; or null. */
  String failure() {
    int status = endpoint == null ? 0 : endpoint.failure();
    return status == 0 ? null : "UCX says: " + Status.text(status);
  }

  // ---- connections

  /** A connection begins: its frames are its own from now on. */
  void begin(UcxTrack next) {
    track = next;
    lastNumber = next.number();
    if (held) {
      held = false;
      receive();
    }
  }

  /** It has ended; whether it was the one that is there. */
  boolean end(UcxTrack ended) {
    boolean was = track == ended;
    if (was) {
      track = null;
    }
    return was;
  }

  // ---- sending

  /** Whether a frame may be sent now: a header, and records apart from it. */
  boolean hasRoom() {
    return inFlight + 2 <= MAX_IN_FLIGHT && isOpen();
  }

  /** Where the next frame's header is to be written: in this buffer, from {@link #slotAt} on. */
  ByteBuffer slotBytes() {
    return slotBytes;
  }

  int slotAt() {
    return (oldest + inFlight & MAX_IN_FLIGHT - 1) * SLOT_BYTES;
  }

  /** Tells the other process that nothing comes any more. */
  void sendGone() {
    int slot = slotAt();
    for (int i = 0; i < UcxLayout.HEADER_BYTES; i++) {
      slotBytes.put(slot + i, (byte) 0);
    }
    slotBytes.put(slot + UcxLayout.KIND, UcxLayout.GONE);
    sendSlot(UcxLayout.HEADER_BYTES);
  }

  /** Sends what was written there. */
  void sendSlot(int bytes) {
    post(slots, slotAt(), bytes, null, 0, 0);
  }

  /** Sends a frame's header and its records. */
  void sendRun(UcxTrack from, int priority, MemorySegment ring, int start, int bytes, long word) {
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
      MemorySegment memory, long offset, int bytes, UcxTrack from, int priority, long word) {
    if (endpoint == null) {
      return; // the first half has failed
    }
    long answer = endpoint.sendStream(memory, offset, bytes, 0);
    if (answer < 0) {
      end("UCX says: " + Status.text((int) answer));
    } else if (answer == 0 && inFlight == 0) {
      sent(from, priority, word);
    } else {
      int slot = oldest + inFlight++ & MAX_IN_FLIGHT - 1;
      requests[slot] = answer;
      senders[slot] = from;
      priorities[slot] = priority;
      words[slot] = word;
      fabric.posted();
    }
  }

  private static void sent(UcxTrack from, int priority, long word) {
    if (from != null) {
      from.sent(priority, word);
    }
  }

  /** Takes back what UCX is done with, in order; whether anything was. */
  boolean reap() {
    int before = inFlight;
    while (inFlight != 0) {
      int status = requests[oldest] == 0 ? Status.OK : fabric.poll(requests[oldest]);
      if (status == Status.IN_PROGRESS) {
        break;
      }
      UcxTrack from = senders[oldest];
      senders[oldest] = null;
      int priority = priorities[oldest];
      long word = words[oldest];
      oldest = oldest + 1 & MAX_IN_FLIGHT - 1;
      inFlight--;
      if (status == Status.OK) {
        sent(from, priority, word);
      } else if (isOpen()) {
        end("UCX says: " + Status.text(status));
      }
    }
    boolean some = inFlight != before;
    if (some && track != null) {
      fabric.wants(track);
    }
    return some;
  }

  // ---- receiving

  /** Takes what has come. */
  void receive() {
    try {
      while (!held && isOpen()) {
        if (chunk.length() == 0) {
          long got = endpoint.receiveStream(chunk);
          if (got <= 0) {
            if (got < 0) {
              end("UCX says: " + Status.text((int) got));
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
    taking = track != null && track.number() == number && !track.over() ? track : null;
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

  /** The other end has broken the rules: what it has sent is not looked at any more. */
  private void fail(String reason) {
    UcxTrack on = track;
    close();
    if (on != null) {
      on.fail(reason);
    }
  }

  /** Nothing goes or comes any more; what has come is taken first. */
  void end(String reason) {
    UcxTrack on = track;
    close();
    if (on != null) {
      on.cutOff(reason);
    }
  }

  /** Closes the endpoint; what UCX still has is asked for by {@link #reap}. */
  void close() {
    if (endpoint != null) {
      Endpoint closing = endpoint;
      endpoint = null;
      fabric.closed(this, closing.closeForced());
    }
  }

  @Override
  public String toString() {
    return name
        + (isOpen() ? ", open, " : ", closed, ")
        + inFlight
        + " in flight, "
        + frames
        + " frames came"
        + (held ? ", held" : "");
  }
}
