// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.util.concurrent.locks.LockSupport;

/**
 * Lets streams go only slowly, by a few bytes at a time, from a position on until the command
 * {@code go}: so the test can wait for what must happen in mid-stream, however busy the machine is.
 * Any thread may call it.
 */
final class Hold {
  private static final int MAX_PIECE = 64;
  private static final long PAUSE_NS = 1_000_000;

  /** A position that no stream reaches. */
  private static final long NOWHERE = Long.MAX_VALUE;

  private volatile long at;

  /**
   * Reads from a program's arguments where that is.
   *
   * @param args {@code slow} (a position in bytes; 0, the default: nothing is held, and there is no
   *     command)
   */
  Hold(Args args) {
    long given = args.number("slow", 0);
    at = given == 0 ? NOWHERE : given;
    if (given != 0) {
      Console.daemon(
          "hold",
          () -> {
            Console.awaitCommand("go");
            at = NOWHERE;
          });
    }
  }

  /**
   * Tells how much the next call may write, and waits for a moment if that is little.
   *
   * @param position bytes that the stream has written
   * @param bytes what it would write
   * @return at most that, and 0 only if that is 0
   */
  int room(long position, int bytes) {
    long left = at - position;
    if (left >= bytes) {
      return bytes;
    }
    if (left > 0) {
      return (int) left;
    }
    LockSupport.parkNanos(PAUSE_NS);
    return Math.min(bytes, MAX_PIECE);
  }
}
