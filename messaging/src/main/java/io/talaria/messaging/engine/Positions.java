// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

/**
 * What a send returns: the connection's number and the position behind the message. And, of one
 * peer, up to where the messages of its last connections were delivered, for whoever asks after
 * they have ended. Any thread.
 *
 * <pre>
 *   position   0 2 | lower bits of the number of the connection 19 | position of the data ring 43
 * </pre>
 */
final class Positions {
  private static final int POSITION_BITS = 43;
  private static final long POSITION_MASK = (1L << POSITION_BITS) - 1;
  private static final int NUMBER_MASK = (1 << 19) - 1;
  private static final int KEPT = 16;

  /** Guarded by this; the oldest gives way. */
  private final int[] numbers = new int[KEPT];

  /** Guarded by this. */
  private final long[] delivered = new long[KEPT];

  /** Guarded by this. */
  private int ended;

  static long of(int number, long ringPosition) {
    return (long) (number & NUMBER_MASK) << POSITION_BITS | ringPosition;
  }

  static boolean isOf(long position, int number) {
    return position >>> POSITION_BITS == (number & NUMBER_MASK);
  }

  /**
   * Whether the message at a position was delivered by the time its connection had delivered up to
   * another.
   */
  static boolean reached(long position, long delivered) {
    return (delivered - position & POSITION_MASK) <= POSITION_MASK >>> 1;
  }

  /** A connection has ended; all before a position was delivered. */
  synchronized void ended(int number, long ringPosition) {
    int at = ended++ % KEPT;
    numbers[at] = number;
    delivered[at] = ringPosition;
  }

  /** Whether a position is of a connection that has ended, and its message was delivered before. */
  synchronized boolean wasDelivered(long position) {
    for (int i = 1; i <= Math.min(ended, KEPT); i++) {
      int at = (ended - i) % KEPT;
      if (isOf(position, numbers[at])) {
        return reached(position, delivered[at]);
      }
    }
    return false;
  }
}
