// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Up to which position a ring's records were all handed to the program, though handlers take them
 * in any order: envelopes are counted in two epochs, and when the older one is empty, all up to its
 * end was delivered.
 */
final class DeliveryTracker {
  private final AtomicInteger[] open = {new AtomicInteger(), new AtomicInteger()};

  // Of the poller.
  private int current;
  private boolean closing;
  private long endOfOlder;
  private long delivered;

  /** Counts an envelope; returns its epoch. Poller. */
  int begin() {
    open[current].incrementAndGet();
    return current;
  }

  /** An envelope was delivered; whether it was its epoch's last. Any thread. */
  boolean end(int epoch) {
    return open[epoch].decrementAndGet() == 0;
  }

  /**
   * The position delivered. Poller.
   *
   * @param position up to which records were read
   */
  long update(long position) {
    if (open[1 - current].get() == 0) {
      if (closing) {
        delivered = endOfOlder;
        closing = false;
      }
      if (open[current].get() == 0) {
        delivered = position;
      } else {
        endOfOlder = position;
        closing = true;
        current = 1 - current;
      }
    }
    return delivered;
  }

  /** Whether nothing is out. Any thread, for a moment. */
  boolean none() {
    return open[0].get() == 0 && open[1].get() == 0;
  }
}
