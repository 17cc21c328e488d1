// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/**
 * Until when nobody of this process spins, because others want the cores. Any thread; a lost update
 * costs some microseconds of spinning.
 */
final class Crowding {
  /** For one who got its core back late. It may have been a pause of the collector's. */
  static final long AFTER_LATENESS_NS = 1_000_000;

  /** For the first proof. */
  static final long AFTER_PROOF_NS = 100_000_000;

  /** The time doubles with each further proof, up to this. */
  static final long MOST_NS = 1_600_000_000;

  /** Whether a rest may last. Times of {@link System#nanoTime} are compared by differences. */
  private volatile boolean resting;

  private volatile long untilNs;
  private volatile long nextRestNs = AFTER_PROOF_NS;

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

  void late(long nowNs) {
    rest(nowNs, AFTER_LATENESS_NS);
  }

  /** Others want the cores. */
  void proved(long nowNs) {
    long restNs = nextRestNs;
    nextRestNs = Math.min(MOST_NS, 2 * restNs);
    rest(nowNs, restNs);
  }

  /** Those who have spun had their cores for themselves. */
  void disproved() {
    nextRestNs = AFTER_PROOF_NS;
  }

  private void rest(long nowNs, long restNs) {
    if (!resting || untilNs - nowNs < restNs) {
      untilNs = nowNs + restNs;
      resting = true;
    }
  }
}
