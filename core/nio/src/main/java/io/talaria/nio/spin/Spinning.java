// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the spinners of a process share: for how long one may spin, how many may at a time, and
 * whether others want the cores. Any thread.
 *
 * <ul>
 *   <li>Half the cores may spin. Of one core one, if the host has more: the thread that it waits
 *       for may run on another; if it does not, the spinner has no luck. Of a host's only core
 *       none.
 *   <li>No thread spins for a while after a spinner has waited for its core longer than its luck
 *       has saved ({@link Witness}, {@link Account}).
 *   <li>A young process does not spin while the host runs more threads than it has cores: its
 *       compilers want them.
 * </ul>
 *
 * <p>No core is ever offered by {@link Thread#yield}: beside one rival the offer is answered after
 * the rival's time slice, milliseconds later, where a thread that sleeps is woken at once.
 */
public final class Spinning {
  /** A clock that steps further between two looks has run while the spinner has not. */
  static final long STEP_NS = 50_000;

  /** So long it is young. */
  static final long YOUTH_NS = 2_000_000_000L;

  /** How long it is believed that there are cores enough. */
  static final long SPARE_FOR_NS = 20_000_000;

  /** Every 67 ms. */
  static final int LAST_TRIALS = 6;

  /** Every 537 ms: the peer may share the core, and each trial is in its way. */
  static final int LAST_TRIALS_OF_ONE_CORE = 9;

  /** Who may use the process's cores changes rarely. */
  static final long COUNT_EVERY_NS = 1_000_000_000;

  private final long spinNs;
  private final Cores cores;
  private final Witness witness;
  private final Crowding crowding = new Crowding();
  private final long bornNs;
  private final AtomicInteger spinners = new AtomicInteger();

  /** When {@link #most} is to be asked for again. */
  private final AtomicLong countAtNs;

  private volatile int most;

  /** Whether the process may use one core only. */
  private volatile boolean single;

  private volatile boolean young = true;

  /** When {@link #spare} is to be asked for again. */
  private final AtomicLong lookAtNs;

  private volatile boolean spare;

  /**
   * @param spinNs the time of one spin in nanoseconds; 0 if no thread may spin
   */
  public Spinning(long spinNs) {
    this(spinNs, new ProcCores(), System.nanoTime());
  }

  Spinning(long spinNs, Cores cores, long bornNs) {
    this.spinNs = spinNs;
    this.cores = cores;
    this.bornNs = bornNs;
    witness = new Witness(cores);
    countAtNs = new AtomicLong(bornNs);
    lookAtNs = new AtomicLong(bornNs);
  }

  /** The configured time of one spin; 0 if no thread may spin. */
  public long spinNs() {
    return spinNs;
  }

  /** Asks for a place among the spinners; a thread that gets one must call {@link #leave}. */
  boolean enter(long nowNs) {
    if (crowding.crowded(nowNs) || (young && !mayThoughYoung(nowNs))) {
      return false;
    }
    if (spinners.getAndIncrement() < most(nowNs)) {
      return true;
    }
    spinners.getAndDecrement();
    return false;
  }

  private int most(long nowNs) {
    long dueNs = countAtNs.get();
    if (nowNs - dueNs >= 0 && countAtNs.compareAndSet(dueNs, nowNs + COUNT_EVERY_NS)) {
      int available = cores.available();
      single = available == 1;
      most = single && cores.online() > 1 ? 1 : available / 2;
    }
    return most;
  }

  /**
   * How rare the windows get in which a thread that has no luck tries again: one of 2 to the power
   * of this.
   */
  int lastTrials() {
    return single ? LAST_TRIALS_OF_ONE_CORE : LAST_TRIALS;
  }

  private boolean mayThoughYoung(long nowNs) {
    if (nowNs - bornNs > YOUTH_NS) {
      young = false;
      return true;
    }
    long dueNs = lookAtNs.get();
    if (nowNs - dueNs >= 0 && lookAtNs.compareAndSet(dueNs, nowNs + SPARE_FOR_NS)) {
      int running = cores.running();
      spare = running != Cores.UNKNOWN && running <= cores.online();
    }
    return spare;
  }

  /**
   * Gives a place back.
   *
   * @param spunNs for how long the caller has spun, and run
   * @param lateNs for how long it has not run meanwhile, as far as the clock tells
   * @param found whether it had luck
   */
  void leave(long spunNs, long lateNs, boolean found, long nowNs) {
    spinners.getAndDecrement();
    switch (witness.spun(spunNs, lateNs, found, nowNs)) {
      case LOSES -> crowding.lost(nowNs);
      case PAYS -> crowding.paid();
      case OPEN -> {}
    }
  }
}
