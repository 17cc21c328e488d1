// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.nio.ByteBuffer;

/**
 * Deals buffers for one call: slices and duplicates, heap and direct, read-only and empty ones, at
 * odd offsets of larger memory, each between guard bytes that no call may touch. Confined to one
 * thread; what was dealt is valid until the next deal.
 */
final class Deck {
  private static final int MAX_BUFFERS = 8;
  private static final int GUARD_BYTES = 8;
  private static final byte GUARD = (byte) 0xA5;

  private final Shape shape;
  private final ByteBuffer heap;
  private final ByteBuffer direct;
  private final ByteBuffer[] backings = new ByteBuffer[MAX_BUFFERS];
  private final int[] starts = new int[MAX_BUFFERS];
  private final int[] ends = new int[MAX_BUFFERS];

  /** What the call gets; of these, {@link #count} from {@link #offset}; the others are null. */
  final ByteBuffer[] buffers = new ByteBuffer[MAX_BUFFERS];

  /** Index of the first buffer dealt. */
  int offset;

  /** How many buffers were dealt. */
  int count;

  /** Whether the call is the one that takes an array. */
  boolean vector;

  Deck(Shape shape) {
    this.shape = shape;
    int capacity = shape.maxBytes() + 64 + MAX_BUFFERS * (2 * GUARD_BYTES + 16);
    this.heap = ByteBuffer.allocate(capacity);
    this.direct = ByteBuffer.allocateDirect(capacity);
  }

  /** Deals writable buffers with so many bytes of room in all. */
  void deal(int bytes) {
    java.util.Arrays.fill(buffers, null);
    int parts = shape.nextVectorLength();
    vector = parts > 0;
    count = Math.max(1, parts);
    offset = vector ? shape.next(3) : 0;
    int heapAt = GUARD_BYTES + shape.next(64);
    int directAt = GUARD_BYTES + shape.next(64);
    int left = bytes;
    for (int i = 0; i < count; i++) {
      boolean last = i == count - 1;
      int size = last ? left : shape.next(4) == 0 ? 0 : left == 0 ? 0 : shape.next(left);
      left -= size;
      if (shape.nextDirect()) {
        place(offset + i, direct, directAt, size);
        directAt += size + 2 * GUARD_BYTES + shape.next(16);
      } else {
        place(offset + i, heap, heapAt, size);
        heapAt += size + 2 * GUARD_BYTES + shape.next(16);
      }
    }
  }

  private void place(int index, ByteBuffer backing, int start, int size) {
    backings[index] = backing;
    starts[index] = start;
    ends[index] = start + size;
    for (int i = 1; i <= GUARD_BYTES; i++) {
      backing.put(start - i, GUARD);
      backing.put(start + size + i - 1, GUARD);
    }
    ByteBuffer buffer = backing.duplicate().position(start).limit(start + size);
    buffers[index] = shape.next(2) == 0 ? buffer.slice() : buffer;
  }

  /** Makes some of the dealt buffers read-only, their position and limit unchanged. */
  void protectSome() {
    for (int i = offset; i < offset + count; i++) {
      if (shape.nextReadOnly()) {
        buffers[i] = buffers[i].asReadOnlyBuffer();
      }
    }
  }

  /** The memory of a dealt buffer, from its first to its last byte, as a buffer of its own. */
  ByteBuffer memory(int index) {
    return backings[index].duplicate().position(starts[index]).limit(ends[index]);
  }

  /** Checks that a call moved so many bytes, in the order of the buffers, and no guard byte. */
  void checkMoved(long moved) {
    long left = moved;
    for (int i = offset; i < offset + count; i++) {
      int size = ends[i] - starts[i];
      int expected = (int) Math.min(size, left);
      if (size - buffers[i].remaining() != expected) {
        throw new IllegalStateException(
            "a call that moved "
                + moved
                + " bytes left buffer "
                + (i - offset)
                + " of "
                + count
                + " ("
                + size
                + " bytes) with "
                + buffers[i].remaining()
                + " remaining");
      }
      left -= expected;
      for (int guard = 1; guard <= GUARD_BYTES; guard++) {
        if (backings[i].get(starts[i] - guard) != GUARD
            || backings[i].get(ends[i] + guard - 1) != GUARD) {
          throw new IllegalStateException(
              "a call that moved "
                  + moved
                  + " bytes touched memory outside buffer "
                  + (i - offset));
        }
      }
    }
    if (left != 0) {
      throw new IllegalStateException("a call claims " + moved + " bytes, " + left + " too many");
    }
  }
}
