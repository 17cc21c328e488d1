// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/**
 * Until when no thread of this process spins, because spinning has not paid. Any thread; a lost
 * update costs some microseconds of spinning.
 */
final class Crowding {
  /** After the first loss. */
  static final long FIRST_REST_NS = 10_000_000;

  /** The time doubles with each further loss, up to this. */
  static final long MAX_REST_NS = 100_000_000;

  /** Whether a rest may last. Times of {@link System#nanoTime} are compared by differences. */
  private volatile boolean resting;

  private volatile long untilNs;
  private volatile long nextRestNs = FIRST_REST_NS;

  boolean crowded(long nowNs) {
    if (!resting) {
      return false;
    }
    if (untilNs - nowNs > 0) {
      return true;
    }
    resting = false;
    return false;
  }

  /** Others want the cores, and a thread that spins loses more than it gains. */
  void lost(long nowNs) {
    long restNs = nextRestNs;
    nextRestNs = Math.min(MAX_REST_NS, 2 * restNs);
    untilNs = nowNs + restNs;
    resting = true;
  }

  /** Spinning pays again: the next rest is a short one. */
  void paid() {
    nextRestNs = FIRST_REST_NS;
  }
}
