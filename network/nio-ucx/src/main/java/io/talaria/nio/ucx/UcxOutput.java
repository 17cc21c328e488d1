// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.EndState;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.ucx.binding.BoundWorker;
import java.nio.ByteBuffer;

/**
 * The way out of one stream. Bytes are copied into a {@link SendBuffer} and sent from there, so the
 * caller's memory is free at return. Usually UCX is done at once. If not, the buffer is {@link
 * #inFlight}, and what is written meanwhile gathers in {@link #filling}, which follows when the
 * first is done: two buffers at most. The peer's {@link #limit} bounds what is unread there. An
 * engine's.
 */
final class UcxOutput {
  private static final long MAX_WINDOW_BYTES = Integer.MAX_VALUE;

  /** A buffer takes more if so much of it is free. */
  private static final int FREE_BYTES = SendBuffer.BYTES / 4;

  private final UcxStream stream;
  private final Engine engine;
  private final EndState ends;
  private SendBuffer inFlight;
  private SendBuffer filling;

  /** Whether the engine polls what is in flight, or could not be sent. */
  private boolean queued;

  /** Counts what this side has taken from the program. */
  private long written;

  /** How much the peer lets this side send in all. */
  private long limit;

  private int peerWindowBytes;

  UcxOutput(UcxStream stream, Engine engine, EndState ends) {
    this.stream = stream;
    this.engine = engine;
    this.ends = ends;
  }

  /** How many bytes the peer takes unread. */
  int peerWindowBytes() {
    return peerWindowBytes;
  }

  /** How many bytes were written in all. */
  long written() {
    return written;
  }

  // ---- writing

  /** As {@link TransportStream#write(ByteBuffer)}; the engine is entered. */
  int write(ByteBuffer src) {
    assert engine.entered();
    int wanted = src.remaining();
    if (ends.nobodyReads()) {
      return swallow(src, wanted);
    }
    int n = append(src, wanted);
    push();
    if (n < wanted) {
      n = goOn(src, n, wanted);
    }
    return n;
  }

  private int goOn(ByteBuffer src, int done, int wanted) {
    engine.turn();
    int n = done;
    if (!ends.nobodyReads()) {
      n += append(src, wanted - n);
      push();
    }
    if (n < wanted) {
      stream.owner().stalled();
    }
    return n;
  }

  /** As {@link TransportStream#write(ByteBuffer[], int, int)}; the engine is entered. */
  long write(ByteBuffer[] srcs, int offset, int length) {
    assert engine.entered();
    long total = 0;
    boolean full = false;
    for (int i = offset; i < offset + length && !full; i++) {
      int wanted = srcs[i].remaining();
      if (wanted > 0) {
        int n = ends.nobodyReads() ? swallow(srcs[i], wanted) : append(srcs[i], wanted);
        if (n < 0) {
          return total > 0 ? total : n;
        }
        total += n;
        full = n < wanted;
      }
    }
    push();
    if (full) {
      engine.turn();
      stream.owner().stalled();
    }
    return total;
  }

  private int swallow(ByteBuffer src, int wanted) {
    if (wanted == 0) {
      return 0;
    }
    int how = ends.writeToNobody();
    if (how < 0) {
      return how;
    }
    src.position(src.position() + wanted);
    return wanted;
  }

  /** Copies what the peer's limit and the buffers take, and moves the source along. */
  private int append(ByteBuffer src, int bytes) {
    int most = (int) Math.min(bytes, limit - written);
    int at = src.position();
    int done = 0;
    try {
      while (done < most) {
        if (filling == null) {
          filling = engine.takeBuffer();
        }
        int n = Math.min(most - done, filling.room());
        if (n == 0) {
          if (inFlight != null) {
            break;
          }
          push();
          continue;
        }
        filling.bytes.put(filling.length, src, at + done, n);
        filling.length += n;
        done += n;
      }
    } finally { // also where memory for a buffer is short: what has been taken will be sent
      src.position(at + done);
      written += done;
    }
    return done;
  }

  /** Puts a word of the protocol in. */
  void appendWord(long value) {
    if (filling == null) {
      filling = engine.takeBuffer();
    }
    filling.bytes.putLong(filling.length, value); // at the very beginning: there is room
    filling.length += Long.BYTES;
  }

  /** Sends what has gathered, unless a send is under way. */
  void push() {
    assert engine.entered();
    SendBuffer buffer = filling;
    Pipe pipe = stream.pipe();
    if (buffer == null || inFlight != null || pipe == null) {
      return;
    }
    if (!queued) {
      engine.reserveSending();
    }
    long answer;
    try {
      answer = pipe.endpoint().sendStream(buffer.block, buffer.length);
    } catch (VirtualMachineError e) {
      queue(); // memory is short, and UCX has not got it: the engine tries again
      throw e;
    }
    filling = null;
    if (answer > 0) {
      buffer.request = answer;
      inFlight = buffer;
      queue();
    } else {
      engine.giveBack(buffer);
      if (answer < 0) {
        failed();
      }
    }
  }

  /** Has the engine poll. */
  private void queue() {
    if (!queued) {
      queued = true;
      engine.sending(stream);
    }
  }

  /**
   * Looks whether UCX is done with the send under way, and sends what follows.
   *
   * @return whether nothing is under way any more
   */
  boolean pollSend() {
    assert engine.entered();
    if (inFlight != null) { // else memory was short at the last time
      int status = engine.worker().poll(inFlight.request);
      if (status == BoundWorker.IN_PROGRESS) {
        return false;
      }
      engine.giveBack(inFlight);
      inFlight = null;
      if (status < 0) {
        failed();
      }
    }
    push(); // nothing if it has failed
    if (inFlight == null) {
      queued = false;
      stream.someSent();
    }
    stream.news();
    return inFlight == null;
  }

  /** Whether UCX still has memory of ours. */
  boolean sending() {
    return inFlight != null;
  }

  /** The way to the peer has failed: nothing reaches it. */
  void failed() {
    dropFilling();
    ends.controlEnded(true, false);
    stream.news(); // for those who only read, too
  }

  /** Forgets what has not been given to UCX. */
  void dropFilling() {
    assert engine.entered();
    if (filling != null) {
      engine.giveBack(filling);
      filling = null;
    }
  }

  // ---- what the peer lets it send

  void peerWindow(int bytes) {
    peerWindowBytes = bytes;
    raiseLimit(bytes);
  }

  void raiseLimit(long value) {
    assert engine.entered();
    if (value < 0 || value - written > MAX_WINDOW_BYTES) {
      stream.breach("a limit of " + value + " after " + written + " bytes");
    } else if (value > limit) {
      limit = value;
      stream.news();
    }
  }

  /** Whether a write would find room. */
  boolean hasRoom() {
    return limit > written && (filling == null || filling.room() >= FREE_BYTES);
  }

  /** Whether UCX has been given everything, and is done with it. */
  boolean idle() {
    return inFlight == null && filling == null;
  }

  /**
   * Whether the peer has left bytes unread, as far as is known: a peer tells how far it has read,
   * but not for a quarter of the window.
   */
  boolean leftUnread() {
    return written > 0 && (sending() || limit - written <= peerWindowBytes / 4 * 3L - 1);
  }
}
