// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.records;

/**
 * Encodes the positions that sends return, and remembers up to which position the last ended
 * connections of one peer had delivered. Any thread.
 *
 * <p>A position consists of the connection's number and the position behind the message in the data
 * ring. The number tells connections of the same peer apart: {@link
 * io.talaria.messaging.Peer#awaitDelivered} may be called after the connection has ended.
 *
 * <pre>
 *   position   0 2 | lower bits of the number of the connection 19 | position of the data ring 43
 * </pre>
 */
public final class Positions {
  private static final int POSITION_BITS = 43;
  private static final long POSITION_MASK = (1L << POSITION_BITS) - 1;
  private static final int NUMBER_MASK = (1 << 19) - 1;
  private static final int KEPT = 16;

  /** A circular buffer. Guarded by this. */
  private final int[] numbers = new int[KEPT];

  /** Guarded by this. */
  private final long[] delivered = new long[KEPT];

  /** How many connections have ended. Guarded by this. */
  private int ended;

  public static long of(int number, long ringPosition) {
    return (long) (number & NUMBER_MASK) << POSITION_BITS | ringPosition;
  }

  public static boolean isOf(long position, int number) {
    return position >>> POSITION_BITS == (number & NUMBER_MASK);
  }

  /**
   * Whether the message at a position was delivered if its connection has delivered everything up
   * to {@code delivered}. Only the ring positions are compared, modulo their 43 bits.
   */
  public static boolean reached(long position, long delivered) {
    return (delivered - position & POSITION_MASK) <= POSITION_MASK >>> 1;
  }

  /** Remembers a connection that has ended after delivering everything up to a position. */
  public synchronized void ended(int number, long ringPosition) {
    int at = ended++ % KEPT;
    numbers[at] = number;
    delivered[at] = ringPosition;
  }

  /**
   * Whether the message at a position was delivered before its connection ended; false if the
   * connection is not one of the last {@value #KEPT} that ended.
   */
  public synchronized boolean wasDelivered(long position) {
    for (int i = 1; i <= Math.min(ended, KEPT); i++) {
      int at = (ended - i) % KEPT;
      if (isOf(position, numbers[at])) {
        return reached(position, delivered[at]);
      }
    }
    return false;
  }
}
