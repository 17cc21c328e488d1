// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * How the rings of one stream grow. A writer that stalls asks; the negotiation thread creates the
 * larger ring and tells the peer, whose negotiation thread maps it; RING_READY then says so, once
 * the reader has followed the move before; then the writer moves on, and the reader follows when it
 * has read all up to there.
 */
final class RingGrowth {
  private static final int FACTOR = 4;

  /** Rings that can wait for the reader: the one moved to, and the one offered after it. */
  private static final int MOST_WAITING = 2;

  /** A ring in a file of its own. */
  record Grown(long fileId, long generation, int bytes, Mapping mapping) {
    ByteBuffer ring() {
      return mapping.buffer();
    }
  }

  private final ShmPeer peer;
  private final int maxBytes;

  // Writer's, except that the negotiation thread publishes nextOut.
  private boolean asked;
  private long outGeneration;
  private Grown currentOut;
  private volatile Grown nextOut;

  /** Reader's. */
  private Grown currentIn;

  /** Filled by the negotiation thread, emptied by the reader; guarded by itself. */
  private final ArrayDeque<Grown> nextIn = new ArrayDeque<>();

  RingGrowth(ShmPeer peer, int maxBytes) {
    this.peer = peer;
    this.maxBytes = maxBytes;
  }

  /** Asks for a larger output ring, once. Writer. */
  void wanted(ShmStream stream, int bytes) {
    if (!asked && bytes < maxBytes) {
      asked = true;
      long generation = outGeneration + 1;
      int larger = (int) Math.min(maxBytes, (long) bytes * FACTOR);
      peer.execute(() -> peer.growOutput(stream, generation, larger));
    }
  }

  /** Whether a larger output ring waits for the writer. Any thread. */
  boolean outputReady(ShmStream stream) {
    Grown next = nextOut;
    return next != null && stream.peerRingReady() == next.generation();
  }

  /** Moves the output to the larger ring if it is ready. Writer. */
  boolean moveOutput(ShmStream stream) {
    if (!outputReady(stream)) {
      return false;
    }
    Grown next = nextOut;
    Grown old = currentOut;
    currentOut = next;
    nextOut = null;
    outGeneration = next.generation();
    asked = false;
    stream.moveOutputTo(next.ring(), next.bytes(), next.generation());
    peer.retire(next.fileId(), old);
    return true;
  }

  /** Whether the ring is here to which the writer says it has moved. Reader. */
  boolean inputReady() {
    synchronized (nextIn) {
      return !nextIn.isEmpty();
    }
  }

  /**
   * Moves the input to the ring that the writer uses now, and only then offers the writer the one
   * after it: the layout has room for one move at a time. Reader.
   */
  void moveInput(ShmStream stream) {
    Grown next;
    Grown after;
    synchronized (nextIn) {
      next = nextIn.remove();
      after = nextIn.peek();
    }
    Grown old = currentIn;
    currentIn = next;
    stream.moveInputTo(next.ring(), next.bytes());
    if (after != null) {
      stream.announceRing(after.generation());
    }
    if (old != null) {
      peer.retire(0, old);
    }
  }

  /** Negotiation thread: a larger output ring exists and has been offered. */
  void offered(Grown grown) {
    nextOut = grown;
  }

  /**
   * Negotiation thread: the peer's larger ring is mapped.
   *
   * @return false if more rings wait than an honest peer can have made
   */
  boolean mapped(ShmStream stream, Grown grown) {
    boolean first;
    synchronized (nextIn) {
      if (nextIn.size() == MOST_WAITING) {
        return false;
      }
      first = nextIn.isEmpty();
      nextIn.add(grown);
    }
    if (first) {
      stream.announceRing(grown.generation());
    }
    return true;
  }

  /** Unmaps everything. Negotiation thread, when nobody is inside. */
  void close() {
    close(currentOut);
    close(nextOut);
    close(currentIn);
    synchronized (nextIn) {
      nextIn.forEach(this::close);
      nextIn.clear();
    }
  }

  private void close(Grown grown) {
    if (grown != null) {
      peer.forget(grown.fileId());
      grown.mapping().close();
    }
  }
}
