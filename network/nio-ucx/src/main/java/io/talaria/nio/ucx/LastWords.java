// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

/**
 * How long a stream waits for what a peer has sent before its control connection ended: the two go
 * different ways, so the end may come first, on one host seldom. A peer that is alive says how its
 * output ends; of one that is gone, all that still comes is on the way. An engine's.
 */
final class LastWords {
  private static final long ALIVE_NS = 5_000_000_000L;
  private static final long GONE_NS = 200_000_000L;

  private final boolean byReset;
  private final long sinceNs = System.nanoTime();
  private boolean gone;
  private long goneSinceNs;

  LastWords(boolean byReset) {
    this.byReset = byReset;
  }

  /** Whether the control connection ended by a reset. */
  boolean byReset() {
    return byReset;
  }

  /** Whether nothing more is to be expected. */
  boolean over(boolean peerGone) {
    long nowNs = System.nanoTime();
    if (peerGone && !gone) {
      gone = true;
      goneSinceNs = nowNs;
    }
    return nowNs - sinceNs >= ALIVE_NS || (gone && nowNs - goneSinceNs >= GONE_NS);
  }
}
