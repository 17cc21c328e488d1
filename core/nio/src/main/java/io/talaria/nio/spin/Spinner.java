// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

/**
 * The spinning of one waiter, a selector or one direction of a blocking channel: before it sleeps
 * it looks again and again for a while, since what comes soon comes sooner so.
 *
 * <p>It spins only while that is of use. Where most waits are longer than a spin, as in a program
 * that hands each request on between threads, a spinner takes the core, and the scheduler's favour,
 * from those it waits for. So a waiter without luck gives up and tries again in windows of time of
 * a millisecond, which get rarer while the trials fail. The windows are those of the clock that all
 * processes of a host share: of two peers that sleep, neither sees that both could spin unless they
 * try together.
 *
 * <p>For the thread that waits: not thread-safe.
 */
public final class Spinner {
  /** So many spins in vain, one after the other, and it gives up. */
  public static final int MAX_LUCK = 32;

  /** What a spin with luck adds; one in vain takes 1. */
  public static final int REWARD = 5;

  /** What a spin takes that has not run all the time: it stood in another thread's way. */
  public static final int PENALTY = 4;

  /** A window is 2 to the power of this, in nanoseconds: a millisecond. */
  public static final int WINDOW_SHIFT = 20;

  /** At first one window of 2 to the power of this is for trials: every 17 ms. */
  public static final int FIRST_TRIALS = 4;

  /** So many trials in vain double the time between two windows. */
  public static final int PATIENCE = 16;

  /** What a spin costs at least, which looks at the clock rarely. */
  private static final long MIN_SPIN_NS = 256;

  /** A peer that sleeps takes longer than a spin to answer; a trial waits for it. */
  public static final int TRIAL_SPINS = 3;

  /** So many spins with luck, one after the other, are a talk. */
  static final int TALK = 32;

  /**
   * So many spins are as long as trials after a talk was interrupted: one of the two was without
   * its core for a moment, so the other sleeps now, and they would continue to sleep, one after the
   * other, until the next window.
   */
  static final int RESUMING_SPINS = 4;

  private final Spinning shared;
  private int luck = MAX_LUCK;
  private int luckyInARow;
  private int resuming;
  private long startedNs;
  private long beganNs;
  private long lookedNs;
  private long limitNs;

  /** For how long it has not run. */
  private long lateNs;

  public Spinner(Spinning shared) {
    this.shared = shared;
  }

  /** Asks to spin; if granted, the caller must call {@link #stop}. */
  public boolean start() {
    if (shared.spinNs() == 0) {
      return false;
    }
    long now = System.nanoTime();
    limitNs = limitNs(now);
    if (limitNs == 0 || !shared.enter(now)) {
      return false;
    }
    beganNs = now;
    startedNs = now;
    lookedNs = now;
    lateNs = 0;
    return true;
  }

  /** When the last spin that was granted began, as of {@link System#nanoTime}. */
  public long beganNs() {
    return beganNs;
  }

  /** How long a spin that begins now may take; 0 if it is not worth it. */
  public long limitNs(long nowNs) {
    if (luck > 0) {
      return resuming > 0 ? TRIAL_SPINS * shared.spinNs() : shared.spinNs();
    }
    // Powers of two: peers with different patience meet in the windows of the rarer one.
    int trials = Math.min(shared.lastTrials(), FIRST_TRIALS + -luck / PATIENCE);
    boolean trial = (nowNs >>> WINDOW_SHIFT & (1L << trials) - 1) == 0;
    return trial ? TRIAL_SPINS * shared.spinNs() : 0;
  }

  /** The wait was not in vain so far: the time begins anew. */
  public void extend() {
    startedNs = System.nanoTime();
    lookedNs = startedNs;
  }

  /** Whether to continue, asked between rounds of looking. */
  public boolean goOn() {
    long now = System.nanoTime();
    long stepNs = now - lookedNs;
    lookedNs = now;
    if (stepNs > Spinning.STEP_NS) {
      lateNs += stepNs;
      return false;
    }
    return now - startedNs < limitNs;
  }

  /** How long the spin had taken when {@link #goOn} was last asked, in nanoseconds. */
  public long spunNs() {
    return lookedNs - beganNs;
  }

  /** Ends a spin and learns from it. */
  public void stop(boolean found) {
    shared.leave(lookedNs - beganNs - lateNs + MIN_SPIN_NS, lateNs, found, lookedNs);
    if (found) {
      lucky();
    } else {
      unlucky(lateNs > 0 ? PENALTY : 1);
    }
  }

  public void lucky() {
    luck = Math.min(MAX_LUCK, Math.max(0, luck) + REWARD);
    luckyInARow = Math.min(TALK, luckyInARow + 1);
  }

  public void unlucky(int by) {
    int least = -(shared.lastTrials() - FIRST_TRIALS) * PATIENCE;
    luck = Math.max(least, luck - by);
    resuming = luckyInARow == TALK ? RESUMING_SPINS : Math.max(0, resuming - 1);
    luckyInARow = 0;
  }
}
