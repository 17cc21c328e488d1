// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The places of the channels that have something to send: a bit each, so none is in it twice, and
 * it needs no memory beyond that. Any thread adds; those who take go round from where they are.
 */
final class InterestList {
  private final AtomicLongArray bits;

  InterestList(int places) {
    bits = new AtomicLongArray((places + Long.SIZE - 1) >>> 6);
  }

  /** Adds a place, after publishing what there is to send. */
  void add(int place) {
    VarHandle.fullFence(); // a bit that is still set then is taken by someone who sees it
    long bit = 1L << place;
    int word = place >>> 6;
    if ((bits.get(word) & bit) == 0) {
      bits.getAndAccumulate(word, bit, (a, b) -> a | b);
    }
  }

  boolean isEmpty() {
    for (int i = 0; i < bits.length(); i++) {
      if (bits.get(i) != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Takes the next place, in a round.
   *
   * @param from the place after the one that was taken last
   * @return a place, or −1 if there is none
   */
  int take(int from) {
    int words = bits.length();
    int start = from >>> 6;
    for (int i = 0; i <= words; i++) {
      int word = (start + i) % words;
      // At first what is behind, in the end what is before.
      long mask = i == 0 ? -1L << from : i == words ? ~(-1L << from) : -1L;
      long found = bits.get(word) & mask;
      while (found != 0) {
        long bit = Long.lowestOneBit(found);
        if ((bits.getAndAccumulate(word, ~bit, (a, b) -> a & b) & bit) != 0) {
          return (word << 6) + Long.numberOfTrailingZeros(bit);
        }
        found &= ~bit;
      }
    }
    return -1;
  }
}
