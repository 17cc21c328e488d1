// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.nio.ByteBuffer;

/** Bytes that both sides of a connection know by a seed. */
final class Pattern {
  private Pattern() {}

  private static byte at(long seed, int index) {
    return (byte) (seed * 31 + index * 7L + (index >>> 8));
  }

  /** Puts bytes in, from the one with the number given on, as many as there is room for. */
  static void fill(ByteBuffer bytes, long seed, int from) {
    int index = from;
    while (bytes.hasRemaining()) {
      bytes.put(at(seed, index++));
    }
  }

  /** Takes all bytes out, which are to be those from the number given on. */
  static void check(ByteBuffer bytes, long seed, int from) {
    int index = from;
    while (bytes.hasRemaining()) {
      byte found = bytes.get();
      byte wanted = at(seed, index);
      if (found != wanted) {
        throw new IllegalStateException(
            "byte " + index + " of seed " + seed + " is " + found + " instead of " + wanted);
      }
      index++;
    }
  }
}
