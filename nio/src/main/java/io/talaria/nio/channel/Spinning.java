// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long threads of this process may spin before they sleep: for a configured time, at most half
 * the cores (but one) at a time, and not while others want the cores. A spinner that has looked in
 * vain for a few microseconds offers its core with each further round; if somebody takes it, cores
 * are scarce and nobody spins for a while.
 */
final class Spinning {
  /** After so long without luck, the peer may be waiting for this very core. */
  private static final long GENEROUS_AFTER_NS = 4_000;

  /** An offer of the core that lasts longer has been taken. */
  private static final long TAKEN_NS = 10_000;

  private static final long CROWDED_FOR_NS = 1_000_000;

  private final long spinNs;
  private final int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  private final AtomicInteger spinners = new AtomicInteger();

  /** Written by any spinner; a lost write costs a microsecond. */
  private volatile long crowdedAtNs = System.nanoTime() - CROWDED_FOR_NS;

  Spinning(long spinNs) {
    this.spinNs = spinNs;
  }

  /**
   * Asks to spin; if granted, the caller must call {@link #leave}.
   *
   * @return the time at which the spin begins, or 0 if the caller is not to spin
   */
  long enter() {
    if (spinNs == 0) {
      return 0;
    }
    if (spinners.getAndIncrement() < most) {
      long now = System.nanoTime();
      if (now - crowdedAtNs >= CROWDED_FOR_NS) {
        return now;
      }
    }
    spinners.getAndDecrement();
    return 0;
  }

  /** Whether a spinner should go on, asked between rounds of looking. */
  boolean goOn(long startedNs) {
    long now = System.nanoTime();
    long spunNs = now - startedNs;
    if (spunNs < GENEROUS_AFTER_NS) {
      return spunNs < spinNs;
    }
    if (spunNs >= spinNs) {
      if (spunNs - spinNs > TAKEN_NS) {
        crowdedAtNs = now;
      }
      return false;
    }
    Thread.yield();
    long back = System.nanoTime();
    if (back - now > TAKEN_NS) {
      crowdedAtNs = back;
      return false;
    }
    return true;
  }

  void leave() {
    spinners.getAndDecrement();
  }
}
