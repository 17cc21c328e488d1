// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.Arrays;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Which ids of communicators are free at this rank. The ranks of a new communicator agree on one
 * that is free at all of them, by the «and» of their maps. Threads may create on different
 * communicators at once: only one of them offers its map, that of the lowest parent id, and the
 * others offer nothing until it is their turn; as the order is the same at all ranks, they get on.
 */
final class ContextIds {
  private static final int WORDS = 128;
  private static final int OFFERS = WORDS;

  private final long[] free = new long[WORDS];
  private final TreeMap<Long, Integer> wanting = new TreeMap<>();
  private boolean offered;
  private boolean once;

  ContextIds() {
    Arrays.fill(free, -1);
    free[0] &= ~3L;
  }

  /** From now on no id is used again: messages about one that is released may be on their way. */
  synchronized void useOnce() {
    once = true;
  }

  synchronized void release(int id) {
    if (once) {
      return;
    }
    free[id / 64] |= 1L << id % 64;
  }

  /**
   * Agrees on an id.
   *
   * @param parent id of the communicator that it is agreed on
   * @param and brings the «and» of the arrays of all ranks
   */
  int agree(int parent, UnaryOperator<long[]> and) {
    return agree((long) parent << 32, and);
  }

  /**
   * Agrees on an id, at some ranks of the parent.
   *
   * @param parent id of the communicator that it is agreed on
   * @param tag tells several at once apart
   * @param and brings the «and» of the arrays of these ranks
   */
  int agree(int parent, int tag, UnaryOperator<long[]> and) {
    return agree(((long) parent << 32) + tag + 1, and);
  }

  private int agree(long parent, UnaryOperator<long[]> and) {
    synchronized (this) {
      wanting.merge(parent, 1, Integer::sum);
    }
    try {
      while (true) {
        boolean mine;
        long[] map = new long[WORDS + 1];
        synchronized (this) {
          mine = !offered && wanting.firstKey() == parent;
          if (mine) {
            offered = true;
            System.arraycopy(free, 0, map, 0, WORDS);
            map[OFFERS] = 1;
          }
        }
        try {
          map = and.apply(map);
        } finally {
          if (mine) {
            takeBack();
          }
        }
        synchronized (this) {
          if (map[OFFERS] == 1) {
            return take(map);
          }
        }
        if (!mine) {
          Thread.yield();
        }
      }
    } finally {
      synchronized (this) {
        if (wanting.merge(parent, -1, Integer::sum) == 0) {
          wanting.remove(parent);
        }
      }
    }
  }

  private synchronized void takeBack() {
    offered = false;
  }

  private int take(long[] map) {
    for (int i = 0; i < WORDS; i++) {
      if (map[i] != 0) {
        long bit = Long.lowestOneBit(map[i]);
        free[i] &= ~bit;
        return i * 64 + Long.numberOfTrailingZeros(bit);
      }
    }
    throw new MPIException(
        MPIException.ERR_COMM,
        "all " + WORDS * 64 + " communicators are in use: free some that are not needed");
  }
}
