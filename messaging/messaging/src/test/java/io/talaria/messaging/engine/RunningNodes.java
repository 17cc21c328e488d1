// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Waits;

/** What tests of running nodes share. */
final class RunningNodes {
  private static final long REST_NS = 50_000_000;

  private RunningNodes() {}

  /** Whether the poller sleeps, and does not wake up again and again. */
  static boolean rests(LocalNode node) {
    int sleep = node.poller().sleepNumber();
    if (!Poller.sleeps(sleep)) {
      return false;
    }
    long end = System.nanoTime() + REST_NS;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    return node.poller().sleepNumber() == sleep;
  }

  /** Closes those that were started. */
  static void close(LocalNode... nodes) {
    for (LocalNode each : nodes) {
      if (each != null) {
        each.close(Waits.LIMIT);
      }
    }
  }
}
