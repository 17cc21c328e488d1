// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.memory.Mapping;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How the rings of one stream grow beyond the first. A writer that stalls asks; the negotiation
 * thread creates the larger ring and tells the peer, whose negotiation thread maps it and says so
 * in RING_READY; then the writer moves on, and may do so again at once. The reader follows from
 * ring to ring when it has read all up to where the writer left each.
 *
 * <p>Either side may have no memory, no descriptor or no mapping left just then. Nobody is told; a
 * writer that still wants a larger ring after {@link #ASK_AGAIN_NS} asks again, and gets the ring
 * that is made by then, or one made anew.
 */
final class RingGrowth {
  private static final int FACTOR = 4;

  /** How long a writer leaves it at what it has asked for. */
  static final long ASK_AGAIN_NS = 1_000_000_000L;

  private static final long NOT_ASKED = 0;

  /** A ring in a file of its own. */
  record Grown(long fileId, long generation, int bytes, Mapping mapping) {
    ByteBuffer ring() {
      return mapping.buffer();
    }
  }

  private final ShmPeer peer;
  private final int maxBytes;

  /**
   * When a ring was asked for that is not in use yet, or {@link #NOT_ASKED}. Set by whoever asks
   * first, the writer or a selecting thread; cleared by the writer's move.
   */
  private final AtomicLong askedAtNs = new AtomicLong(NOT_ASKED);

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

  // Generations of the last ring that was offered, and of the last of the peer's that was mapped.
  // Negotiation thread's.
  private long offeredOut = ConnectionLayout.FIRST_RING;
  private long mappedIn = ConnectionLayout.FIRST_RING;

  RingGrowth(ShmPeer peer, int maxBytes) {
    this.peer = peer;
    this.maxBytes = maxBytes;
  }

  /**
   * Asks for a larger output ring, once in a while. Writer, or a thread that selects for writing.
   */
  void wanted(ShmStream stream, ShmOutput output) {
    if (growable(output) && ask(System.nanoTime())) {
      if (growable(output)) { // what was seen before may be from before a move
        long generation = outGeneration + 1; // if a move comes now, it has been offered already
        int larger = (int) Math.min(output.mostBytes(maxBytes), (long) output.bytes() * FACTOR);
        peer.execute(() -> peer.growOutput(stream, generation, larger));
      }
    }
  }

  /** Whether the caller is the one to ask now. Any thread. */
  boolean ask(long nowNs) {
    long before = askedAtNs.get();
    boolean due = before == NOT_ASKED || nowNs - before >= ASK_AGAIN_NS;
    return due && askedAtNs.compareAndSet(before, nowNs == NOT_ASKED ? 1 : nowNs);
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
    askedAtNs.set(NOT_ASKED);
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

  /** Whether the output ring of a generation is yet to be made. Negotiation thread. */
  boolean unmade(long generation) {
    return generation > offeredOut;
  }

  /**
   * The output ring of a generation if it was offered before and is not in use, or null.
   * Negotiation thread.
   */
  Grown unused(long generation) {
    Grown next = nextOut;
    return next != null && next.generation() == generation ? next : null;
  }

  /** Negotiation thread: a larger output ring exists and is being offered. */
  void offered(Grown grown) {
    mapped.add(grown.mapping());
    offeredOut = grown.generation();
    nextOut = grown;
  }

  /** Whether the peer's ring of a generation, or a later one, is mapped. Negotiation thread. */
  boolean knows(long generation) {
    return generation <= mappedIn;
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
    mappedIn = grown.generation();
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
