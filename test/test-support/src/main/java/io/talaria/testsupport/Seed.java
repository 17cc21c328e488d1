// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.testsupport;

import java.util.Random;

/** The seeds of random tests. */
public final class Seed {
  private static final String PROPERTY = "talaria.test.seed";
  private static final int BELOW = 1_000_000_000;

  private Seed() {}

  /** Returns another one each time, or the property's, and prints how to repeat the run. */
  public static long next() {
    long seed = Long.getLong(PROPERTY, new Random().nextInt(BELOW));
    System.out.println("seed " + seed + ", again with -D" + PROPERTY + "=" + seed);
    return seed;
  }
}
