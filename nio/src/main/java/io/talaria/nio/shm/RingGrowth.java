// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.memory.Mapping;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How the rings of one stream grow beyond the first. A writer that stalls asks; the negotiation
 * thread creates the larger ring and tells the peer, whose negotiation thread maps it and says so
 * in RING_READY; then the writer moves on, and may do so again at once. The reader follows from
 * ring to ring when it has read all up to where the writer left each.
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

  /** Set by whoever asks first, the writer or a selecting thread; cleared by the writer's move. */
  private final AtomicBoolean asked = new AtomicBoolean();

  // Writer's, except that the negotiation thread publishes nextOut.
  private long outGeneration = ConnectionLayout.FIRST_RING;
  private Grown currentOut;
  private volatile Grown nextOut;

  /** Reader's. */
  private Grown currentIn;

  /** Filled by the negotiation thread, emptied by the reader; guarded by itself. */
  private final ArrayDeque<Grown> nextIn = new ArrayDeque<>();

  /** All larger rings of this stream that are mapped, or have been. Negotiation thread's. */
  private final List<Mapping> mapped = new ArrayList<>();

  RingGrowth(ShmPeer peer, int maxBytes) {
    this.peer = peer;
    this.maxBytes = maxBytes;
  }

  /** Asks for a larger output ring, once. Writer, or a thread that selects for writing. */
  void wanted(ShmStream stream, ShmOutput output) {
    if (growable(output) && !asked.get() && asked.compareAndSet(false, true)) {
      if (growable(output)) { // what was seen before may be from before a move; now none can come
        long generation = outGeneration + 1;
        int larger = (int) Math.min(output.mostBytes(maxBytes), (long) output.bytes() * FACTOR);
        peer.execute(() -> peer.growOutput(stream, generation, larger));
      }
    }
  }

  private boolean growable(ShmOutput output) {
    return output.bytes() < output.mostBytes(maxBytes)
        && outGeneration < ConnectionLayout.MOST_MOVES;
  }

  /** Whether a larger output ring waits for the writer. Any thread. */
  boolean outputReady(ShmStream stream) {
    Grown next = nextOut;
    return next != null && stream.peerRingReadyAcquire() == next.generation();
  }

  /** Moves the output to the larger ring if it is ready. Writer. */
  boolean moveOutput(ShmStream stream, ShmOutput output) {
    if (!outputReady(stream)) {
      return false;
    }
    Grown next = nextOut;
    Grown old = currentOut;
    currentOut = next;
    nextOut = null;
    outGeneration = next.generation();
    output.moveTo(next.ring(), next.bytes(), next.generation());
    asked.set(false);
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
   * Moves the input to the ring that the writer used next. Reader. An error may have come between
   * any two of its steps the last time; they are such that it can be called again.
   *
   * @return false if there is none, which no honest peer brings about
   */
  boolean moveInput(ShmInput input) {
    synchronized (nextIn) {
      Grown next = nextIn.peek();
      while (next != null && next.generation() <= input.moves()) {
        readFrom(next);
        Grown unused = nextIn.remove();
        next = nextIn.peek();
      }
      if (next == null) {
        return false;
      }
      input.moveTo(next.ring(), next.bytes());
      readFrom(next);
      Grown unused = nextIn.remove();
      return true;
    }
  }

  private void readFrom(Grown next) {
    assert Thread.holdsLock(nextIn);
    Grown old = currentIn;
    currentIn = next;
    if (old != null && old != next) {
      peer.retire(0, old);
    }
  }

  /** Negotiation thread: a larger output ring exists and has been offered. */
  void offered(Grown grown) {
    mapped.add(grown.mapping());
    nextOut = grown;
  }

  /**
   * Negotiation thread: the peer's larger ring is mapped.
   *
   * @return false if more rings wait than an honest peer can have made
   */
  boolean mapped(ShmStream stream, Grown grown) {
    synchronized (nextIn) {
      if (nextIn.size() == ConnectionLayout.MOST_MOVES) {
        return false;
      }
      nextIn.add(grown);
      mapped.add(grown.mapping());
    }
    stream.announceRing(grown.generation());
    return true;
  }

  /** Whether no larger ring has lost its memory. Negotiation thread. */
  boolean intact() {
    for (Mapping ring : mapped) {
      if (!ring.intact()) {
        return false;
      }
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
