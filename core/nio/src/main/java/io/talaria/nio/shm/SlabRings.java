// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The rings in the slabs of a pair of processes, which any of its connections may use for a while:
 * both sides have them mapped, so a writer takes a free one of its own side's and moves there at
 * once. A writer that has taken one gives it back when the reader has left it. Any thread, except
 * what is marked; nothing allocates.
 */
final class SlabRings {
  private static final int MAX_RINGS = SlabLayout.RING_SLABS * SlabLayout.RING_NUMBERS;

  /** One bit for each ring that this side writes and no stream has. */
  private final AtomicLong free = new AtomicLong();

  private final Runnable outside;
  private final Runnable back;

  /**
   * Whether a writer in its page has found none since those that ask were told of one. The thread
   * that gives a ring back clears it before they are told; they look again then, and set it again.
   * A writer that has found it set when it was about to be cleared is one of them, or its request
   * has not been heard: then, when the request is heard, it is set again for that writer, and there
   * is another look.
   */
  private volatile boolean missing;

  /** Those whose memory is gone. Set by the negotiation thread. */
  private volatile long lost;

  // By number; null where no slab with that ring is mapped.
  private final AtomicReferenceArray<ByteBuffer> mine = new AtomicReferenceArray<>(MAX_RINGS);
  private final AtomicReferenceArray<ByteBuffer> theirs = new AtomicReferenceArray<>(MAX_RINGS);

  /**
   * @param outside is told whenever a stream begins to use a ring outside its page, or wants one;
   *     any thread
   * @param back is told when there is a ring after {@link #missing}; any thread
   */
  SlabRings(Runnable outside, Runnable back) {
    this.outside = outside;
    this.back = back;
  }

  /** A stream uses a ring outside its page, of a slab or in a file; or has asked for one. */
  void outside() {
    outside.run();
  }

  /** A slab is mapped here: its rings can be read and, once they are {@link #open}, written. */
  void mapped(ByteBuffer memory, int slab, int side, int ringBytes) {
    for (int i = 0; i < SlabLayout.rings(slab, ringBytes); i++) {
      int ring = SlabLayout.ring(slab, i);
      mine.set(ring, part(memory, SlabLayout.ringAt(slab, side, i, ringBytes), ringBytes));
      theirs.set(ring, part(memory, SlabLayout.ringAt(slab, 1 - side, i, ringBytes), ringBytes));
    }
  }

  private static ByteBuffer part(ByteBuffer memory, int offset, int bytes) {
    return memory.slice(offset, bytes).order(ByteOrder.nativeOrder());
  }

  /** A bit for each number of a slab's. */
  static long bits(int slab) {
    return slab < SlabLayout.RING_SLABS
        ? ((1L << SlabLayout.RING_NUMBERS) - 1) << SlabLayout.ring(slab, 0)
        : 0;
  }

  /** The peer has mapped a slab as well. Negotiation thread, once a slab. */
  void open(int slab, int ringBytes) {
    if (slab < SlabLayout.RING_SLABS) {
      long bits = ((1L << SlabLayout.rings(slab, ringBytes)) - 1) << SlabLayout.ring(slab, 0);
      free.accumulateAndGet(bits, (was, more) -> was | more);
      tellIfMissing();
    }
  }

  /** Those whose memory is gone, a bit for each number. */
  long lost() {
    return lost;
  }

  /**
   * Forgets the rings of a slab whose memory is gone, or that the peer has not mapped. A writer
   * that has taken one says so before it asks for the buffer, so one that has not said so by now
   * gets none; nor does a reader. Negotiation thread.
   */
  void forget(int slab) {
    for (int i = 0; slab < SlabLayout.RING_SLABS && i < SlabLayout.RING_NUMBERS; i++) {
      mine.set(SlabLayout.ring(slab, i), null);
      theirs.set(SlabLayout.ring(slab, i), null);
    }
    VarHandle.fullFence();
  }

  /** The memory of a slab is gone: no thread may take a ring of it. Negotiation thread. */
  void lost(int slab) {
    long bits = bits(slab);
    lost |= bits;
    free.accumulateAndGet(bits, (was, gone) -> was & ~gone);
  }

  /** Takes a ring to write to, and owns it; -1 if there is none. */
  int take() {
    long seen = free.get();
    while (seen != 0) {
      long bit = Long.lowestOneBit(seen);
      long found = free.compareAndExchange(seen, seen & ~bit);
      if (found == seen) {
        return Long.numberOfTrailingZeros(bit);
      }
      seen = found;
    }
    return -1;
  }

  /** Whether there is a ring to take. */
  boolean any() {
    return free.get() != 0;
  }

  /**
   * Says that a writer wants one. The caller then looks whether there is {@link #any}: a thread
   * that gives one back later has all told whose request has been heard.
   */
  void missing() {
    if (!missing) {
      missing = true;
    }
  }

  private void tellIfMissing() {
    if (missing) {
      missing = false;
      back.run();
    }
  }

  /** Gives back what was taken: the peer reads nothing from it any more. */
  void giveBack(int ring) {
    long bit = (1L << ring) & ~lost;
    long seen = free.get();
    while (true) {
      long found = free.compareAndExchange(seen, seen | bit);
      if (found == seen) {
        if ((lost & bit) != 0) { // meanwhile
          free.accumulateAndGet(bit, (was, gone) -> was & ~gone);
        }
        tellIfMissing();
        return;
      }
      seen = found;
    }
  }

  /** A ring that this side writes, or null if its memory is gone. */
  ByteBuffer mine(int ring) {
    return mine.get(ring);
  }

  /** A ring that the peer writes, or null if there is none of that number. */
  ByteBuffer theirs(long ring) {
    return ring >= 0 && ring < MAX_RINGS ? theirs.get((int) ring) : null;
  }
}
