// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.nio.ByteBuffer;
import java.util.Random;

/** Bytes that tell their position, so that one lost, doubled or misplaced is seen. */
final class Pattern {
  private Pattern() {}

  static byte at(long seed, long position) {
    long mixed = (position + seed) * 0x9e37_79b9_7f4a_7c15L;
    return (byte) (mixed >>> 56);
  }

  /** Fills a buffer's remaining space with the bytes from a position on, and flips nothing. */
  static void fill(ByteBuffer to, long seed, long position) {
    for (int i = to.position(); i < to.limit(); i++) {
      to.put(i, at(seed, position + i - to.position()));
    }
  }

  static void check(ByteBuffer from, int start, int end, long seed, long position) {
    for (int i = start; i < end; i++) {
      byte expected = at(seed, position + i - start);
      if (from.get(i) != expected) {
        throw new AssertionError(
            "byte " + (position + i - start) + " is " + from.get(i) + ", not " + expected);
      }
    }
  }

  /** Sizes as programs have them: mostly small, sometimes around powers of two, seldom huge. */
  static int size(Random random, int most) {
    int size =
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> 1 + random.nextInt(64);
          case 3, 4 -> 1 + random.nextInt(3000);
          case 5 -> (1 << random.nextInt(17)) + random.nextInt(3) - 1;
          case 6 -> 1 + random.nextInt(20_000);
          default -> 1 + random.nextInt(most);
        };
    return Math.max(1, Math.min(size, most));
  }

  static ByteBuffer buffer(Random random, int bytes) {
    int before = random.nextInt(9);
    int after = random.nextInt(9);
    ByteBuffer whole =
        random.nextBoolean()
            ? ByteBuffer.allocate(before + bytes + after)
            : ByteBuffer.allocateDirect(before + bytes + after);
    return whole.position(before).limit(before + bytes);
  }

  /** A pause that shifts threads against each other by little. */
  static void jitter(Random random) {
    int spins = random.nextInt(6) == 0 ? random.nextInt(2000) : random.nextInt(30);
    for (int i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
  }
}
