// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.memory.Mapping;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Where the rings of one stream are that are not in its page, and how they grow. A writer that
 * finds too little room in its page takes a ring of a slab, if one is free, and moves there at
 * once. A writer that stalls asks for a ring in a file of its own, four times as large, or as large
 * as those of the slabs if there was none; the negotiation thread creates it and tells the peer,
 * whose negotiation thread maps it and says so in RING_READY; then the writer moves on, and may do
 * so again at once. The reader follows from ring to ring when it has read all up to where the
 * writer left each.
 *
 * <p>Either side may have no memory, no descriptor or no mapping left just then. The other side is
 * not told; a writer that still wants a larger ring after {@link #ASK_AGAIN_NS} asks again, and
 * gets the ring that is made by then, or one made anew.
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

  private static final int NONE = -1;

  private final ShmPeer peer;
  private final SlabRings slabRings;
  private final int firstBytes;
  private final int maxBytes;

  /**
   * When a ring was asked for that is not in use yet, or {@link #NOT_ASKED}. Set by the thread that
   * asks first, the writer or a selecting thread; cleared by the writer's move to a file or to its
   * page.
   */
  private final AtomicLong askedAtNs = new AtomicLong(NOT_ASKED);

  // Writer's.
  private long outGeneration;
  private Grown currentOut;

  /** Set, and replaced if it is not used, by the negotiation thread; taken by the writer. */
  private final AtomicReference<Grown> nextOut = new AtomicReference<>();

  /** The ring of a slab that the writer has taken: written by it, and where it left it. */
  private volatile int slabRing = NONE;

  private long leftSlabRingAt = Long.MAX_VALUE;

  // Reader's. Others look which ring of a slab it reads from.
  private Grown currentIn;
  private volatile int slabRingIn = NONE;

  /** Filled by the negotiation thread, emptied by the reader; guarded by itself. */
  private final ArrayDeque<Grown> nextIn = new ArrayDeque<>();

  /** All larger rings of this stream that are mapped. Negotiation thread's. */
  private final List<Mapping> mapped = new ArrayList<>();

  // Generations of the last ring that was offered, and of the last of the peer's that was mapped.
  // Negotiation thread's.
  private long offeredOut;
  private long mappedIn;

  /**
   * @param firstBytes size of the rings of slabs
   * @param maxBytes what this side's output may grow to
   */
  RingGrowth(ShmPeer peer, SlabRings slabRings, int firstBytes, int maxBytes) {
    this.peer = peer;
    this.slabRings = slabRings;
    this.firstBytes = firstBytes;
    this.maxBytes = maxBytes;
  }

  // ---- rings of slabs

  /** Whether a writer that leaves its page finds a ring; if not, it is told later. Any thread. */
  boolean slabRingFree() {
    slabRings.missing();
    return slabRings.any();
  }

  /**
   * Moves the output from its page to a ring of a slab. Writer.
   *
   * @return false if there is none
   */
  boolean takeSlabRing(ShmOutput output) {
    if (slabRing != NONE || !output.mayMove()) {
      return false;
    }
    int ring = slabRings.take();
    if (ring == NONE) {
      return false; // a writer about to sleep without room looks once more: slabRingFree
    }
    slabRing = ring;
    leftSlabRingAt = Long.MAX_VALUE;
    VarHandle.fullFence(); // see SlabRings.forget
    ByteBuffer memory = slabRings.mine(ring);
    if (memory == null) {
      slabRing = NONE; // and no thread takes it any more
      return false;
    }
    output.moveTo(
        memory, 0, firstBytes, ConnectionLayout.ring(ConnectionLayout.RING_OF_SLAB, ring));
    slabRings.outside();
    return true;
  }

  /** Gives the ring of a slab back once the reader has read all up to where it was left. Writer. */
  private void giveBackFollowed(long head) {
    if (head >= leftSlabRingAt) {
      giveBack();
    }
  }

  /** Gives the ring of a slab back, if there is one: no thread reads from it any more. */
  void giveBack() {
    int ring = slabRing;
    if (ring != NONE) {
      slabRing = NONE;
      leftSlabRingAt = Long.MAX_VALUE;
      slabRings.giveBack(ring);
    }
  }

  /**
   * Has the output write to its page again, and gives back what it has outside. Writer, when the
   * reader has read everything.
   *
   * @return whether it has left a ring in a file
   */
  boolean returnToPage(ShmStream stream, ShmOutput output) {
    moveOutput(stream, output); // one that was made and is not needed any more
    if (!output.mayMove()) {
      return false;
    }
    output.moveToPage();
    askedAtNs.set(NOT_ASKED); // that was for a larger ring; in the page it asks anew
    giveBack(); // nothing in it is unread, and the reader finds the move before it looks there
    Grown old = currentOut;
    currentOut = null;
    if (old != null) {
      peer.retire(0, old);
    }
    return old != null;
  }

  // ---- rings in files

  /**
   * Asks for a larger output ring, once in a while. Writer, or a thread that selects for writing.
   */
  void wanted(ShmStream stream, ShmOutput output) {
    if (output.inline()) {
      slabRings.outside(); // nothing may come of it: see askAgain
    }
    if (growable(output) && ask(System.nanoTime())) {
      if (growable(output)) { // what was seen before may be from before a move
        long generation = outGeneration + 1; // if a move comes now, it has been offered already
        int larger =
            output.inline()
                ? firstBytes
                : (int) Math.min(output.maxBytes(maxBytes), (long) output.bytes() * FACTOR);
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

  /**
   * Asks again for a writer that has no more room in its page: one that sleeps without a limit
   * would not. Negotiation thread, now and then.
   */
  void askAgain(ShmStream stream, ShmOutput output) {
    if (slabRings.any() || outputReady(stream)) {
      stream.owner().woken();
    } else {
      wanted(stream, output);
    }
  }

  /** Whether a ring was asked for that is not in use yet. Any thread. */
  boolean asked() {
    return askedAtNs.get() != NOT_ASKED;
  }

  /** Whether a ring was made that the writer does not use yet. Negotiation thread. */
  boolean unusedOutput() {
    return nextOut.get() != null;
  }

  private boolean growable(ShmOutput output) {
    boolean small = output.inline() || output.bytes() < output.maxBytes(maxBytes);
    return small && output.mayMove();
  }

  /** Whether a larger output ring waits for the writer. Any thread. */
  boolean outputReady(ShmStream stream) {
    Grown next = nextOut.get();
    return next != null && stream.peerRingReadyAcquire() == next.generation();
  }

  /** Moves the output to the larger ring if it is ready. Writer. */
  boolean moveOutput(ShmStream stream, ShmOutput output) {
    giveBackFollowed(output.readTo());
    Grown next = nextOut.get();
    if (next == null
        || stream.peerRingReadyAcquire() != next.generation()
        || !output.mayMove()
        || !nextOut.compareAndSet(next, null)) {
      return false;
    }
    Grown old = currentOut;
    currentOut = next;
    outGeneration = next.generation();
    output.moveTo(
        next.ring(),
        0,
        next.bytes(),
        ConnectionLayout.ring(ConnectionLayout.RING_OF_FILE, next.generation()));
    if (slabRing != NONE && leftSlabRingAt == Long.MAX_VALUE) {
      leftSlabRingAt = output.movedAt();
    }
    askedAtNs.set(NOT_ASKED);
    peer.retire(next.fileId(), old);
    slabRings.outside();
    return true;
  }

  /** Whether the ring is here to which the writer says it has moved. Reader. */
  boolean inputReady(long to) {
    long number = to >> ConnectionLayout.RING_KIND_BITS;
    long kind = to & ((1 << ConnectionLayout.RING_KIND_BITS) - 1);
    if (kind == ConnectionLayout.RING_OF_SLAB) {
      return slabRings.theirs(number) != null;
    }
    if (kind == ConnectionLayout.RING_OF_FILE) {
      synchronized (nextIn) {
        return waiting(number) != null;
      }
    }
    return to == ConnectionLayout.RING_INLINE;
  }

  /** The ring of a number, if it is the next; those before it have been left. Reader. */
  private Grown waiting(long number) {
    assert Thread.holdsLock(nextIn);
    for (Grown next : nextIn) {
      if (next.generation() >= number) {
        return next.generation() == number ? next : null;
      }
    }
    return null;
  }

  /**
   * Moves the input to the ring that the writer used next. Reader. An error may have come between
   * any two of its steps the last time; they are such that it can be called again.
   *
   * @return false if there is none, which no honest peer brings about
   */
  boolean moveInput(ShmInput input, long to) {
    long number = to >> ConnectionLayout.RING_KIND_BITS;
    if (!inputReady(to)) {
      return false;
    }
    if (to == ConnectionLayout.RING_INLINE) {
      input.moveToPage();
      slabRingIn = NONE;
      leaveFile();
    } else if ((to & ConnectionLayout.RING_OF_SLAB) != 0) {
      int before = slabRingIn;
      slabRingIn = (int) number;
      VarHandle.fullFence(); // see SlabRings.forget
      ByteBuffer memory = slabRings.theirs(number);
      if (memory == null) {
        slabRingIn = before;
        return false;
      }
      input.moveTo(memory, firstBytes);
      leaveFile();
      slabRings.outside();
    } else {
      synchronized (nextIn) {
        Grown next = waiting(number);
        input.moveTo(next.ring(), next.bytes());
        slabRingIn = NONE;
        Grown first = nextIn.peek();
        while (first != null && first.generation() <= number) {
          readFrom(first);
          nextIn.remove();
          first = nextIn.peek();
        }
      }
      slabRings.outside();
    }
    return true;
  }

  private void leaveFile() {
    Grown old = currentIn;
    if (old != null) {
      currentIn = null;
      peer.retire(0, old);
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

  /** The output ring that was offered before and is not in use, or null. Negotiation thread. */
  Grown unused() {
    return nextOut.get();
  }

  /** Negotiation thread: a larger output ring exists and is being offered. */
  void offered(Grown grown) {
    remember(grown);
    offeredOut = grown.generation();
    nextOut.set(grown);
  }

  /**
   * Negotiation thread: another ring is being offered in place of one that the peer could not map.
   * What it has of that is unmapped with the stream.
   *
   * @return false if the writer has taken that one, because the peer could
   */
  boolean offeredAnew(Grown lost, Grown grown) {
    if (!nextOut.compareAndSet(lost, grown)) {
      return false;
    }
    remember(grown);
    offeredOut = grown.generation();
    return true;
  }

  private void remember(Grown grown) {
    mapped.removeIf(Mapping::closed);
    mapped.add(grown.mapping());
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
      if (nextIn.size() == ConnectionLayout.MOVES) {
        return false;
      }
      nextIn.add(grown);
    }
    remember(grown);
    mappedIn = grown.generation();
    stream.announceRing(grown.generation());
    return true;
  }

  /**
   * Whether no ring of this stream has lost its memory. Negotiation thread.
   *
   * @param lost the rings of slabs that have, a bit for each number
   */
  boolean intact(long lost) {
    if ((slabRingsInUse() & lost) != 0) {
      return false; // read in a race: a late thread finds out at the next error
    }
    for (Mapping ring : mapped) {
      if (!ring.intact()) {
        return false;
      }
    }
    return true;
  }

  /** The rings of slabs that this stream writes to or reads from, a bit for each number. */
  long slabRingsInUse() {
    return bit(slabRing) | bit(slabRingIn);
  }

  private static long bit(int ring) {
    return ring == NONE ? 0 : 1L << ring;
  }

  /** Unmaps everything. Negotiation thread, when no thread is inside. */
  void close() {
    close(currentOut);
    close(nextOut.get());
    close(currentIn);
    synchronized (nextIn) {
      nextIn.forEach(this::close);
      nextIn.clear();
    }
    mapped.forEach(Mapping::close); // what is left
  }

  private void close(Grown grown) {
    if (grown != null) {
      peer.forget(grown.fileId());
      grown.mapping().close();
    }
  }
}
