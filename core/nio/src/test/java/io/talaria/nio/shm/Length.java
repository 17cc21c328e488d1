// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.util.concurrent.TimeUnit;

/** How long a test that goes by the clock lasts: all of it, or a third in a usual run. */
public final class Length {
  private static final int ROUNDS_OF_ALL = 150;
  private static final int MIN_PARTS = 3;

  private Length() {}

  /**
   * A length in nanoseconds.
   *
   * @param seconds in a run of all tests, that is without {@code talaria.test.rounds} or with 150
   */
  public static long ns(int seconds) {
    long whole = TimeUnit.SECONDS.toNanos(seconds);
    int rounds = Integer.getInteger("talaria.test.rounds", ROUNDS_OF_ALL);
    return Math.max(whole / MIN_PARTS, Math.min(1, rounds / ROUNDS_OF_ALL) * whole);
  }
}
