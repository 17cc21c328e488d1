// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.nio.ByteBuffer;

/**
 * How the rings of one stream grow. A writer that stalls asks; the negotiation thread creates the
 * larger ring and tells the peer, whose negotiation thread maps it and says so in RING_READY; then
 * the writer moves on, and the reader follows when it has read all up to there.
 */
final class RingGrowth {
  private static final int FACTOR = 4;

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
  private volatile boolean nextOutReady;

  // Reader's, except that the negotiation thread publishes nextIn.
  private Grown currentIn;
  private volatile Grown nextIn;

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
  boolean outputReady() {
    return nextOutReady;
  }

  /** Moves the output to the larger ring if it is ready. Writer. */
  boolean moveOutput(ShmStream stream) {
    Grown next = nextOut;
    if (next == null || stream.peerRingReady() != next.generation()) {
      return false;
    }
    Grown old = currentOut;
    currentOut = next;
    nextOut = null;
    nextOutReady = false;
    outGeneration = next.generation();
    asked = false;
    stream.moveOutputTo(next.ring(), next.bytes(), next.generation());
    peer.retire(next.fileId(), old);
    return true;
  }

  boolean inputReady() {
    return nextIn != null;
  }

  /** Moves the input to the ring that the writer uses now. Reader. */
  void moveInput(ShmStream stream) {
    Grown next = nextIn;
    Grown old = currentIn;
    currentIn = next;
    nextIn = null;
    stream.moveInputTo(next.ring(), next.bytes());
    if (old != null) {
      peer.retire(0, old);
    }
  }

  /** Negotiation thread: a larger output ring exists and has been offered. */
  void offered(Grown grown) {
    nextOut = grown;
  }

  /**
   * Negotiation thread: the peer's larger ring is mapped. Returns false if one is waiting already.
   */
  boolean mapped(Grown grown) {
    if (nextIn != null) {
      return false;
    }
    nextIn = grown;
    return true;
  }

  /** Unmaps everything. Negotiation thread, when nobody is inside. */
  void close() {
    close(currentOut);
    close(nextOut);
    close(currentIn);
    close(nextIn);
  }

  private void close(Grown grown) {
    if (grown != null) {
      peer.forget(grown.fileId());
      grown.mapping().close();
    }
  }
}
