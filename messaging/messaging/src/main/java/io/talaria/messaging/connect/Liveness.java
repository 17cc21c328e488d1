// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

/**
 * Measures for how long a peer has been silent. For one thread, which calls {@link #look}
 * periodically.
 *
 * <p>Time in which this process itself did not run, because it was stopped or had no core, does not
 * count: it could not have heard the peer then.
 */
final class Liveness {
  /** A longer time between two looks counts as this: the looking thread did not run meanwhile. */
  static final long MAX_STEP_NS = 1_000_000_000L;

  private long lookedNs;
  private long silentNs;

  /**
   * Begins to measure.
   *
   * @param nowNs the time, of {@link System#nanoTime}
   */
  Liveness(long nowNs) {
    lookedNs = nowNs;
  }

  /** The result of the last {@link #look}. */
  long ns() {
    return silentNs;
  }

  /**
   * Updates the measurement.
   *
   * @param heard whether anything was heard since the last look
   * @return for how long nothing was heard, in nanoseconds
   */
  long look(boolean heard, long nowNs) {
    long step = nowNs - lookedNs;
    lookedNs = nowNs;
    silentNs = heard ? 0 : silentNs + Math.clamp(step, 0, MAX_STEP_NS);
    return silentNs;
  }
}
