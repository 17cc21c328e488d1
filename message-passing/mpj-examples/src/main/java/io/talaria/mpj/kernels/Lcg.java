// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/** The random numbers of the kernels: x becomes 5^13 x mod 2^46, and x / 2^46 is the number. */
final class Lcg {
  static final long FACTOR = 1_220_703_125; // 5^13

  private static final long MASK = (1L << 46) - 1;
  private static final double SCALE = 1.0 / (1L << 46);

  private long x;

  Lcg(long seed) {
    x = seed;
  }

  /** The next number, between 0 and 1. */
  double next() {
    // The product's low 46 bits are right though it overflows.
    x = x * FACTOR & MASK;
    return x * SCALE;
  }

  /** Passes over numbers. */
  Lcg skip(long count) {
    long power = FACTOR;
    for (long n = count; n > 0; n >>= 1) {
      if ((n & 1) != 0) {
        x = x * power & MASK;
      }
      power = power * power & MASK;
    }
    return this;
  }
}
