// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * How a stream is cut into calls: sizes, kinds of buffers, gathering and scattering, pauses. All
 * from one seeded source of chance, so that a run can be repeated. Confined to one thread.
 */
public final class Shape {
  private final Random chance;
  private final int maxBytes;
  private final String buffers;
  private final boolean vectors;
  private final int pauseEvery;
  private final long pauseMaxNs;

  /**
   * Reads the shape from a program's arguments.
   *
   * @param args {@code chunk} (largest call in bytes), {@code buffers} (heap, direct or mixed),
   *     {@code vectors} (yes or no), {@code pauseEvery} (calls, 0 for none), {@code pauseUs}
   * @param seed makes the choices
   */
  public Shape(Args args, long seed) {
    this.chance = new Random(seed);
    this.maxBytes = args.count("chunk", 256 << 10);
    this.buffers = args.text("buffers", "mixed");
    this.vectors = args.is("vectors", "yes", "no");
    this.pauseEvery = args.count("pauseEvery", 0);
    this.pauseMaxNs = args.number("pauseUs", 1000) * 1000;
  }

  /**
   * A size for the next call: from one byte to the largest, each order of magnitude as likely.
   *
   * @return bytes; rarely 0
   */
  int nextBytes() {
    if (chance.nextInt(256) == 0) {
      return 0;
    }
    return (int) logUniform(chance, 1, maxBytes);
  }

  /**
   * A number of which each order of magnitude is as likely.
   *
   * @param chance makes the choice
   * @param min the smallest, at least 1
   * @param max the largest
   * @return the number
   */
  static long logUniform(Random chance, long min, long max) {
    double exponent = chance.nextDouble() * Math.log((double) max / min);
    return Math.min(max, (long) (min * Math.exp(exponent) + 0.5));
  }

  int maxBytes() {
    return maxBytes;
  }

  /** How many buffers the next call has; 0 means the call that takes one buffer. */
  int nextVectorLength() {
    return vectors && chance.nextBoolean() ? 1 + chance.nextInt(5) : 0;
  }

  /** Whether the next buffer is a direct one. */
  boolean nextDirect() {
    switch (buffers) {
      case "heap":
        return false;
      case "direct":
        return true;
      case "mixed":
        return chance.nextBoolean();
      default:
        throw new IllegalArgumentException("buffers=" + buffers);
    }
  }

  /** Whether the next buffer to write from is a read-only one. */
  boolean nextReadOnly() {
    return buffers.equals("mixed") && chance.nextInt(4) == 0;
  }

  /** One of n choices. */
  int next(int choices) {
    return chance.nextInt(choices);
  }

  /** Now and then keeps the peer waiting. */
  void maybePause() {
    if (pauseEvery > 0 && chance.nextInt(pauseEvery) == 0) {
      long until = System.nanoTime() + (long) (chance.nextDouble() * pauseMaxNs);
      for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }
}
