// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

/**
 * What a send returns: the connection's number and the position behind the message. And, of one
 * peer, up to where the messages of its last connections were taken, for whoever asks after they
 * have ended. Any thread.
 *
 * <pre>
 *   ticket   0 2 | lower bits of the number of the connection 19 | position of bulk 43
 * </pre>
 */
final class Tickets {
  private static final int POSITION_BITS = 43;
  private static final long POSITION_MASK = (1L << POSITION_BITS) - 1;
  private static final int NUMBER_MASK = (1 << 19) - 1;
  private static final int KEPT = 16;

  /** Guarded by this; the oldest gives way. */
  private final int[] numbers = new int[KEPT];

  /** Guarded by this. */
  private final long[] taken = new long[KEPT];

  /** Guarded by this. */
  private int ended;

  static long of(int number, long position) {
    return (long) (number & NUMBER_MASK) << POSITION_BITS | position;
  }

  static boolean isOf(long ticket, int number) {
    return ticket >>> POSITION_BITS == (number & NUMBER_MASK);
  }

  /** Whether a ticket's message lies before a position of its connection. */
  static boolean reached(long ticket, long position) {
    return (position - ticket & POSITION_MASK) <= POSITION_MASK >>> 1;
  }

  /** A connection has ended; all before a position was taken. */
  synchronized void ended(int number, long position) {
    int at = ended++ % KEPT;
    numbers[at] = number;
    taken[at] = position;
  }

  /** Whether a ticket is of a connection that has ended, and its message was taken before. */
  synchronized boolean wasTaken(long ticket) {
    for (int i = 1; i <= Math.min(ended, KEPT); i++) {
      int at = (ended - i) % KEPT;
      if (isOf(ticket, numbers[at])) {
        return reached(ticket, taken[at]);
      }
    }
    return false;
  }
}
