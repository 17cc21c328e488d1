// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.EndState;
import io.talaria.nio.ucx.binding.Received;
import java.nio.ByteBuffer;

/**
 * The way into one stream. What arrives is copied at once: into the reader's buffer if one waits
 * just then, else into {@link Slab}s. A new limit is granted whenever a quarter of the window has
 * been read. An engine's, except what is marked.
 */
final class UcxInput {
  static final int WINDOW_BYTES = 4 << 20;
  private static final int MIN_WINDOW_BYTES = 64 << 10;

  private final UcxStream stream;
  private final Engine engine;
  private final EndState ends;
  private Slab first;
  private Slab last;
  private int windowBytes = WINDOW_BYTES;
  private long received;
  private long read;
  private long granted = WINDOW_BYTES;

  /** After how many bytes the peer's output ends, once it has said so. */
  private long peerTotal;

  /** The program reads nothing more of what comes. */
  private boolean closed;

  /** Any thread's. */
  private volatile int unread;

  UcxInput(UcxStream stream, Engine engine, EndState ends) {
    this.stream = stream;
    this.engine = engine;
    this.ends = ends;
  }

  /** How many bytes this side takes unread. */
  int windowBytes() {
    return windowBytes;
  }

  /** Sets that, before the stream is used. */
  void window(int bytes) {
    windowBytes = Math.max(MIN_WINDOW_BYTES, Math.min(bytes, WINDOW_BYTES));
    granted = windowBytes;
  }

  /** How many bytes can be read. Any thread. */
  int unread() {
    return unread;
  }

  /** The peer says after how many bytes its output ends. */
  void peerEnds(boolean byReset, long total) {
    if (ends.peerEnded()) {
      return;
    }
    peerTotal = total;
    if (byReset) {
      ends.peerAborted();
    } else {
      ends.peerFinished();
    }
    if (total < received) {
      stream.breach("an end after " + total + " of " + received + " bytes");
    }
  }

  /** Whether the peer has ended its output and all of it is here. */
  boolean allHasCome() {
    return ends.peerEnded() && received >= peerTotal;
  }

  /**
   * Drops what comes from now on.
   *
   * @return whether it did not before
   */
  boolean close() {
    boolean was = closed;
    closed = true;
    return !was;
  }

  /** Gives all memory back. */
  void release() {
    assert engine.entered();
    closed = true;
    while (first != null) {
      Slab slab = first;
      first = slab.next;
      engine.giveBack(slab);
    }
    last = null;
    unread = 0;
  }

  // ---- what comes

  /** Takes bytes over. */
  void receive(Received chunk, int offset, int length) {
    assert engine.entered();
    long total = received + length;
    if (closed || stream.breached()) {
      received = total;
      return;
    }
    if (total > granted || (ends.peerEnded() && total > peerTotal)) {
      received = total;
      stream.breach("more bytes than it may send: " + total);
      return;
    }
    engine.reserveSlabs(slabsFor(length)); // before a byte is counted: memory may be short
    received = total;
    int at = offset;
    int left = length;
    if (unread == 0) {
      int direct = engine.receiveDirectly(stream, chunk, at, left);
      read += direct;
      at += direct;
      left -= direct;
    }
    int kept = left;
    int before = unread;
    while (left > 0) {
      if (last == null || last.to == Slab.BYTES) {
        addSlab();
      }
      int n = Math.min(left, Slab.BYTES - last.to);
      chunk.copyTo(at, last.bytes, last.to, n);
      last.to += n;
      at += n;
      left -= n;
    }
    if (kept > 0) {
      unread = before + kept;
      stream.news();
    }
  }

  /** How many more it takes to keep so many bytes. */
  private int slabsFor(int bytes) {
    int room = last == null ? 0 : Slab.BYTES - last.to;
    return (Math.max(0, bytes - room) + Slab.BYTES - 1) / Slab.BYTES;
  }

  private void addSlab() {
    Slab slab = engine.takeSlab();
    if (last == null) {
      first = slab;
    } else {
      last.next = slab;
    }
    last = slab;
  }

  // ---- reading

  /** As {@link io.talaria.nio.transport.TransportStream#read}; the engine is entered. */
  int read(ByteBuffer dst) {
    assert engine.entered();
    if (ends.reported() != 0) {
      return ends.reported();
    }
    int n = unread > 0 ? take(dst) : engine.turnInto(stream, dst);
    if (n > 0) {
      grant();
      return n;
    }
    return unread > 0 ? 0 : ends.report(allHasCome());
  }

  private int take(ByteBuffer dst) {
    int before = unread;
    int total = Math.min(before, dst.remaining());
    int left = total;
    while (left > 0) {
      Slab slab = first;
      int n = Math.min(left, slab.to - slab.from);
      dst.put(slab.bytes, slab.from, n);
      slab.from += n;
      left -= n;
      if (slab.from == slab.to && (slab.to == Slab.BYTES || slab == last)) {
        first = slab.next;
        if (first == null) {
          last = null;
        }
        engine.giveBack(slab);
      }
    }
    unread = before - total;
    read += total;
    return total;
  }

  /** Lets the peer send more, once enough has been read. */
  void grant() {
    if (read + windowBytes - granted >= windowBytes >> 2 && !ends.ended()) {
      long more = read + windowBytes;
      try {
        stream.note(UcxMessages.GRANT, more);
        granted = more;
      } catch (InternalError e) {
        throw e; // perhaps of another stream's memory that is gone
      } catch (VirtualMachineError e) { // what has been read must reach the program
        engine.owesGrants();
      }
    }
  }
}
