// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Computes the position up to which all records of a ring were delivered to the program, although
 * handlers finish them in any order.
 *
 * <p>Invariant: each envelope that is not yet delivered is counted in one of two epochs, and all
 * records of the older epoch precede those of the current one. So when the older epoch's count is
 * 0, everything up to its end was delivered.
 */
public final class DeliveryTracker {
  private final AtomicInteger[] open = {new AtomicInteger(), new AtomicInteger()};

  // Used by the poller only.
  private int current;
  private boolean closing;
  private long endOfOlder;
  private long delivered;

  /** Counts an envelope and returns its epoch. Poller only. */
  public int begin() {
    open[current].incrementAndGet();
    return current;
  }

  /** Records that an envelope was delivered; true if it was its epoch's last. Any thread. */
  public boolean end(int epoch) {
    return open[epoch].decrementAndGet() == 0;
  }

  /**
   * Returns the position up to which everything was delivered. Poller only.
   *
   * @param position the position up to which records were read from the ring
   */
  public long update(long position) {
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

  /**
   * Whether every envelope was delivered. Any thread; the answer may be out of date at once, as the
   * poller may begin another envelope.
   */
  public boolean none() {
    return open[0].get() == 0 && open[1].get() == 0;
  }
}
