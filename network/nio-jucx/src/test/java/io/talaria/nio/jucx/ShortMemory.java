// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Has so little direct memory that no block can grow, and sends itself pieces that fill the
 * smallest. Says {@code got COUNT} when all have come, and ends with 0. A JVM of its own with a
 * small {@code -XX:MaxDirectMemorySize}.
 */
final class ShortMemory {
  private static final int ROUNDS = 1_000;

  private ShortMemory() {}

  /**
   * Runs it.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    try (Two two = new Two()) {
      List<ByteBuffer> taken = takeAll();
      long got = 0;
      byte[] piece = new byte[BlockPool.MIN_BYTES];
      for (int round = 0; round < ROUNDS; round++) {
        two.send(BlockPool.MIN_BYTES);
        int[] count = {0};
        two.until(() -> (count[0] += two.take(piece)) == BlockPool.MIN_BYTES);
        got += count[0];
      }
      System.out.println("got " + got + " beside " + taken.size());
    }
    System.exit(0);
  }

  /** Leaves less than the next size of a block. */
  private static List<ByteBuffer> takeAll() {
    List<ByteBuffer> taken = new ArrayList<>();
    for (int size : new int[] {1 << 20, 8 << 10}) {
      try {
        while (true) {
          taken.add(ByteBuffer.allocateDirect(size));
        }
      } catch (OutOfMemoryError e) {
        // On with smaller ones.
      }
    }
    return taken;
  }
}
