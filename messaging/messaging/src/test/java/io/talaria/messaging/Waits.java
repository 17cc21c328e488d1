// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

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

  /** Checks that nodes that were closed have left nothing in the directory of a test. */
  static void assertNothingLeft(Path directory) throws IOException {
    for (String each : new String[] {"run", "shm"}) {
      Path folder = directory.resolve(each);
      if (Files.exists(folder)) {
        try (Stream<Path> left = Files.list(folder)) {
          assertThat(left).as("left in %s", folder).isEmpty();
        }
      }
    }
  }
}
