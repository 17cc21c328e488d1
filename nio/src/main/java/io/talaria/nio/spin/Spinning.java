// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the spinners of a process share: for how long one may spin, how many may at a time (half the
 * cores, but one at least), and whether cores are scarce. They are when a spinner offered its core
 * and somebody took it; nobody spins for a while then.
 */
public final class Spinning {
  /** An offer of the core that lasts longer has been taken. */
  private static final long TAKEN_NS = 10_000;

  private static final long CROWDED_FOR_NS = 1_000_000;

  private final long spinNs;
  private final int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  private final AtomicInteger spinners = new AtomicInteger();

  /** Written by any spinner; a lost write costs a microsecond. */
  private volatile long crowdedAtNs = System.nanoTime() - CROWDED_FOR_NS;

  public Spinning(long spinNs) {
    this.spinNs = spinNs;
  }

  /** The configured time of one spin; 0 if nobody may spin. */
  public long spinNs() {
    return spinNs;
  }

  /** Asks for a place among the spinners; who got one must call {@link #leave}. */
  public boolean enter(long nowNs) {
    if (nowNs - crowdedAtNs < CROWDED_FOR_NS) {
      return false;
    }
    if (spinners.getAndIncrement() < most) {
      return true;
    }
    spinners.getAndDecrement();
    return false;
  }

  public void leave() {
    spinners.getAndDecrement();
  }

  /** Offers the core to others; false if one of them took it. */
  public boolean offerCore(long nowNs) {
    Thread.yield();
    return !noteLateness(nowNs, System.nanoTime());
  }

  /** Notes that a spinner got the core back late, if so. */
  public boolean noteLateness(long dueNs, long nowNs) {
    boolean late = nowNs - dueNs > TAKEN_NS;
    if (late) {
      crowdedAtNs = nowNs;
    }
    return late;
  }
}
