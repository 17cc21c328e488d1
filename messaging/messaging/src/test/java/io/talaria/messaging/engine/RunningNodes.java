// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** What tests of running nodes wait for. */
final class RunningNodes {
  static final Duration LIMIT = Duration.ofSeconds(60);

  private static final long REST_NS = 50_000_000;

  private RunningNodes() {}

  /** Waits until a condition is true, and fails if it is not in time. */
  static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("in time").isNegative();
      Thread.sleep(1);
    }
  }

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
        each.close(LIMIT);
      }
    }
  }
}
