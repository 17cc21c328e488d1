// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * The word that comes with each message: kind (2 bits), large messages that the sender has taken (8
 * bits), receive requests that it has posted again (10 bits).
 *
 * <pre>{@code
 *  31    20 19        10 9           2 1    0
 * | zero   | credits    | taken       | kind |
 * }</pre>
 */
final class Immediate {
  static final int DATA = 0;
  static final int CREDIT = 1;
  static final int LARGE = 2;

  /** Stands for no word at all; is not valid. */
  static final int NONE = -1;

  static final int MAX_CREDITS = 1023;
  static final int MAX_TAKEN = 255;

  private static final int TAKEN_SHIFT = 2;
  private static final int CREDITS_SHIFT = 10;

  private Immediate() {}

  static int of(int kind, int taken, int credits) {
    return kind | (taken << TAKEN_SHIFT) | (credits << CREDITS_SHIFT);
  }

  /** Whether a peer may have sent it. */
  static boolean isValid(int word) {
    return word >>> 20 == 0 && kind(word) <= LARGE;
  }

  static int kind(int word) {
    return word & 3;
  }

  static int taken(int word) {
    return (word >>> TAKEN_SHIFT) & MAX_TAKEN;
  }

  static int credits(int word) {
    return (word >>> CREDITS_SHIFT) & MAX_CREDITS;
  }
}
