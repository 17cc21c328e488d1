// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Up to which position a lane's records were all handed to the program, though handlers take them
 * in any order: envelopes are counted in two epochs, and when the older one is empty, all up to its
 * end was taken.
 */
final class Taken {
  private final AtomicInteger[] open = {new AtomicInteger(), new AtomicInteger()};

  // Of the poller.
  private int current;
  private boolean closing;
  private long endOfOlder;
  private long taken;

  /** Counts an envelope; returns its epoch. Poller. */
  int begin() {
    open[current].incrementAndGet();
    return current;
  }

  /** An envelope was taken; whether it was its epoch's last. Any thread. */
  boolean end(int epoch) {
    return open[epoch].decrementAndGet() == 0;
  }

  /**
   * The position taken. Poller.
   *
   * @param position up to which records were read
   */
  long update(long position) {
    if (open[1 - current].get() == 0) {
      if (closing) {
        taken = endOfOlder;
        closing = false;
      }
      if (open[current].get() == 0) {
        taken = position;
      } else {
        endOfOlder = position;
        closing = true;
        current = 1 - current;
      }
    }
    return taken;
  }

  /** Whether nothing is out. Any thread, for a moment. */
  boolean none() {
    return open[0].get() == 0 && open[1].get() == 0;
  }
}
