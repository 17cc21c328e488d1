// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits of tests for what other threads do. */
public final class Waits {
  /** How long a test waits at most, unless it says otherwise. */
  public static final Duration LIMIT = Duration.ofSeconds(60);

  private Waits() {}

  /** Waits until a condition is true, and fails if it is not within {@link #LIMIT}. */
  public static void await(BooleanSupplier condition) throws InterruptedException {
    await(LIMIT, condition);
  }

  /** Waits until a test lets a receiver or a codec continue, within {@link #LIMIT}. */
  public static void await(CountDownLatch open) throws InterruptedException {
    if (!open.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new IllegalStateException("the test did not let it continue");
    }
  }

  /** The same as for a condition, within another limit. */
  static void await(Duration limit, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("in time").isNegative();
      Thread.sleep(1);
    }
  }
}
