// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

/**
 * For how long nothing was heard of a peer while this process could have heard it: time in which
 * the process itself stood still, stopped or without a core, is nobody else's silence. For one
 * thread, which looks again and again.
 */
final class Liveness {
  /** Two looks further apart have this between them: who looks was kept from it. */
  static final long MAX_STEP_NS = 1_000_000_000L;

  private long lookedNs;
  private long silentNs;

  /**
   * Begins.
   *
   * @param nowNs of {@link System#nanoTime}
   */
  Liveness(long nowNs) {
    lookedNs = nowNs;
  }

  /** What the last look has said. */
  long ns() {
    return silentNs;
  }

  /**
   * Looks.
   *
   * @param heard whether something was heard since the last look
   * @return for how long nothing was, in nanoseconds
   */
  long look(boolean heard, long nowNs) {
    long step = nowNs - lookedNs;
    lookedNs = nowNs;
    silentNs = heard ? 0 : silentNs + Math.clamp(step, 0, MAX_STEP_NS);
    return silentNs;
  }
}
