// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import java.time.Duration;

/**
 * Whose turn it is at a benchmark server: one run at a time, because two would disturb each other.
 * Any thread may use it.
 */
final class Turn {
  // Guarded by this.
  private String run;
  private int members;

  /**
   * Waits until a run may begin, or continue with another connection.
   *
   * @param wanted the run
   * @param limit how long to wait for another run to end
   * @return how many connections the run has now; 0 if another run has not ended
   * @throws InterruptedException if interrupted
   */
  synchronized int enter(String wanted, Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (members > 0 && !run.equals(wanted)) {
      long leftMs = (deadline - System.nanoTime()) / 1_000_000;
      if (leftMs <= 0) {
        return 0;
      }
      wait(leftMs);
    }
    run = wanted;
    return ++members;
  }

  /** Ends a connection; returns how many the run still has. */
  synchronized int leave() {
    members--;
    notifyAll();
    return members;
  }
}
