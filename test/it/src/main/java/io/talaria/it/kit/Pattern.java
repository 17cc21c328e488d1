// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The content of a stream: pseudo-random bytes of which each is known from its position, so that
 * any byte lost, repeated, moved, changed or foreign is seen at once and where.
 *
 * <pre>
 *  byte  0        8        16
 *        +--------+--------+--------+-- ...
 *        | seed   | total  | words that depend on the seed and on their index
 *        +--------+--------+--------+-- ...        (all little-endian)
 * </pre>
 *
 * <p>Immutable.
 */
public final class Pattern {
  /** Bytes at the start that tell the reader what follows. */
  public static final int HEADER_BYTES = 16;

  private static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final long SEARCH_WORDS = 1 << 20;

  private final long seed;
  private final long totalBytes;

  /**
   * Makes the content of one stream.
   *
   * @param seed makes this stream different from others
   * @param totalBytes the length, header included
   */
  public Pattern(long seed, long totalBytes) {
    this.seed = seed;
    this.totalBytes = totalBytes;
  }

  /**
   * Mixes a number well.
   *
   * @param value any number
   * @return another one, to which each bit of the value contributes
   */
  public static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /**
   * The length of the stream.
   *
   * @return bytes, header included
   */
  public long totalBytes() {
    return totalBytes;
  }

  /**
   * Fills a buffer up to its limit with the bytes of this stream.
   *
   * @param target where to; its order becomes little-endian
   * @param position which byte of the stream comes first
   */
  public void fill(ByteBuffer target, long position) {
    target.order(ByteOrder.LITTLE_ENDIAN);
    long at = position;
    while ((at & 7) != 0 && target.hasRemaining()) {
      target.put(byteAt(at++));
    }
    long index = at >>> 3;
    while (target.remaining() >= 8) {
      target.putLong(word(index++));
    }
    at = index << 3;
    while (target.hasRemaining()) {
      target.put(byteAt(at++));
    }
  }

  /**
   * Compares what arrived, from the buffer's position to its limit, and consumes it.
   *
   * @param source what arrived; its order becomes little-endian
   * @param position which byte of the stream comes first
   * @throws IllegalStateException at the first byte that is not right
   */
  public void check(ByteBuffer source, long position) {
    source.order(ByteOrder.LITTLE_ENDIAN);
    long at = position;
    while ((at & 7) != 0 && source.hasRemaining()) {
      checkByte(source, at++);
    }
    long index = at >>> 3;
    while (source.remaining() >= 8) {
      long expected = word(index);
      long found = source.getLong();
      if (found != expected) {
        source.position(source.position() - 8);
        for (int i = 0; i < 8; i++) {
          checkByte(source, (index << 3) + i);
        }
      }
      index++;
    }
    at = index << 3;
    while (source.hasRemaining()) {
      checkByte(source, at++);
    }
  }

  private void checkByte(ByteBuffer source, long at) {
    int start = source.position();
    byte found = source.get();
    byte expected = byteAt(at);
    if (found != expected) {
      source.position(start);
      throw new IllegalStateException(
          String.format(
              "byte %d of a stream of %d: expected %02x, found %02x; %s",
              at, totalBytes, expected, found, whence(source, at)));
    }
  }

  /** Says which part of the stream wrong bytes come from: the key to what went wrong. */
  private String whence(ByteBuffer source, long at) {
    int available = source.remaining();
    for (int skip = 0; skip < 8 && available >= skip + 8; skip++) {
      long found = source.getLong(source.position() + skip);
      long middle = at >>> 3;
      for (long index = Math.max(0, middle - SEARCH_WORDS);
          index < middle + SEARCH_WORDS;
          index++) {
        if (word(index) == found) {
          return "these are its bytes from position " + ((index << 3) - skip);
        }
      }
    }
    StringBuilder dump = new StringBuilder("foreign bytes:");
    for (int i = 0; i < Math.min(available, 32); i++) {
      dump.append(String.format(" %02x", source.get(source.position() + i)));
    }
    return dump.append(" (").append(available).append(" in the buffer)").toString();
  }

  private byte byteAt(long position) {
    return (byte) (word(position >>> 3) >>> ((position & 7) << 3));
  }

  private long word(long index) {
    if (index == 0) {
      return seed;
    }
    return index == 1 ? totalBytes : mix(seed + index * GAMMA);
  }
}
