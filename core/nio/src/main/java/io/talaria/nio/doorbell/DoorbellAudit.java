// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Looks after threads that sleep on doorbells: one for which there is news, and which no thread
 * rings, is rung by the audit, and counted. There is none but by a fault, or because another
 * program of the user has taken bytes out of the pipe; so it guards, and must never hide something.
 *
 * <p>{@link #asleep} is any thread's, the rest belongs to one thread, the audit's.
 */
public final class DoorbellAudit {
  /** No thread sleeps. */
  public static final int NOBODY = 0;

  /** The same sleep as at the last look, in vain as then. */
  public static final int THE_SAME = 1;

  /** A thread sleeps that did not at the last look, or that has news. */
  public static final int OTHERS = 2;

  private static final AtomicLong MISSED = new AtomicLong();

  private final DoorbellPool pool;
  private final Runnable awaken;
  private final Runnable missed;

  /** The sleep of each doorbell at the last look, and whether it had news then and was not rung. */
  private final long[] seen = new long[DoorbellPool.MAX_FOR_THREADS];

  private final boolean[] unrung = new boolean[DoorbellPool.MAX_FOR_THREADS];

  /** Whether no thread slept at the last look, so that the audit does not look. */
  private volatile boolean resting = true;

  /**
   * @param awaken makes a thread call {@link #look} again and again; any thread
   * @param missed told of each doorbell that was missed
   */
  public DoorbellAudit(DoorbellPool pool, Runnable awaken, Runnable missed) {
    this.pool = pool;
    this.awaken = awaken;
    this.missed = missed;
  }

  /** How many doorbells were missed in this process. */
  public static long missed() {
    return MISSED.get();
  }

  /** A thread falls asleep that this audit looks after. */
  void asleep() {
    if (resting) {
      resting = false;
      awaken.run();
    }
  }

  /** Whether there is no thread to look after, until {@code awaken} is run. */
  public boolean resting() {
    return resting;
  }

  /**
   * Looks at all once.
   *
   * @return {@link #NOBODY}, {@link #THE_SAME} or {@link #OTHERS}
   */
  public int look() {
    int found = lookAtAll();
    if (found == NOBODY) {
      resting = true;
      if (anybody()) { // between the look and that, so it has not run awaken
        resting = false;
        return OTHERS;
      }
    }
    return found;
  }

  private boolean anybody() {
    for (int i = 0; i < pool.madeForThreads(); i++) {
      if (mine(pool.forThreads(i)) != 0) {
        return true;
      }
    }
    return false;
  }

  /** The sleep on a doorbell, if it is looked after here; or 0. */
  private long mine(ThreadDoorbell doorbell) {
    long sleep = doorbell.asleep();
    ThreadDoorbell.Sleeper who = doorbell.sleeper();
    return who == null || who.audit() != this ? 0 : sleep;
  }

  private int lookAtAll() {
    int found = NOBODY;
    for (int i = 0; i < pool.madeForThreads(); i++) {
      ThreadDoorbell doorbell = pool.forThreads(i);
      long sleep = mine(doorbell);
      if (sleep != 0) {
        found = Math.max(found, lookAt(i, doorbell, sleep));
      }
    }
    return found;
  }

  private int lookAt(int i, ThreadDoorbell doorbell, long sleep) {
    boolean known = seen[i] == sleep;
    boolean wasUnrung = known && unrung[i];
    seen[i] = sleep;
    boolean ready = known && news(doorbell, sleep);
    // One that was rung may take the byte at any time, and be asleep a little longer without it.
    unrung[i] = ready && !rung(doorbell);
    if (wasUnrung && unrung[i]) {
      MISSED.incrementAndGet();
      missed.run();
      doorbell.ring();
    }
    return known && !ready ? THE_SAME : OTHERS;
  }

  private static boolean news(ThreadDoorbell doorbell, long sleep) {
    ThreadDoorbell.Sleeper who = doorbell.sleeper();
    return who != null && who.ready(doorbell.waitsFor()) && doorbell.asleep() == sleep;
  }

  /** Rung, and the thread has got no core since. */
  private static boolean rung(ThreadDoorbell doorbell) {
    try {
      return doorbell.rung();
    } catch (IOException e) {
      return false;
    }
  }
}
