// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.harness.Latencies;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Times one operation after the other, for one thread.
 *
 * <p>In the closed loop an operation begins when the one before is done. In the open loop it is due
 * at a fixed time, whether or not the one before is done: {@link #sinceDue} counts from when it was
 * due, so a stall counts for all that had to wait (no coordinated omission); {@link #sinceBegun}
 * counts from when it began, for comparison.
 */
public final class Laps {
  /** What sleeping may take longer than asked for; the rest is spun. */
  private static final long SLEEP_SLACK_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private final boolean timed;
  private final Histogram sinceBegun;
  private final Histogram sinceDue;
  private final double intervalNs;
  private final long firstNs = System.nanoTime();
  private long count;
  private long begunNs;
  private long dueNs;

  /**
   * Starts to time.
   *
   * @param ratePerSecond how many operations are due a second; 0 for the closed loop
   */
  public Laps(int ratePerSecond) {
    this(ratePerSecond, true);
  }

  private Laps(int ratePerSecond, boolean timed) {
    this.timed = timed;
    sinceBegun = timed ? Latencies.histogram() : null;
    intervalNs = ratePerSecond == 0 ? 0 : 1e9 / ratePerSecond;
    sinceDue = ratePerSecond == 0 ? null : Latencies.histogram();
  }

  /**
   * Returns laps of the closed loop that are not timed: where an operation takes no longer than a
   * look at the clock, only the time of all together tells what one takes.
   */
  public static Laps untimed() {
    return new Laps(0, false);
  }

  /** Begins an operation, in the open loop once it is due. */
  public void begin() {
    if (!timed) {
      return;
    }
    if (sinceDue != null) {
      dueNs = firstNs + (long) (count++ * intervalNs);
      awaitDue();
    }
    begunNs = System.nanoTime();
  }

  private void awaitDue() {
    for (long left = dueNs - System.nanoTime(); left > 0; left = dueNs - System.nanoTime()) {
      if (left > SLEEP_SLACK_NS) {
        LockSupport.parkNanos(left - SLEEP_SLACK_NS);
      } else {
        Thread.onSpinWait();
      }
    }
  }

  /** Ends the operation that was begun last. */
  public void end() {
    if (!timed) {
      return;
    }
    long now = System.nanoTime();
    Latencies.record(sinceBegun, now - begunNs);
    if (sinceDue != null) {
      Latencies.record(sinceDue, now - dueNs);
    }
  }

  /** Returns the times from beginning to end; null if they are not taken. */
  public Histogram sinceBegun() {
    return sinceBegun;
  }

  /** Returns the times from when each was due to its end; null in the closed loop. */
  public Histogram sinceDue() {
    return sinceDue;
  }
}
