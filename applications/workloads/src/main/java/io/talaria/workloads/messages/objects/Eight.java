// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

/**
 * The larger object that is sent: 64 bytes.
 *
 * @param a its number
 * @param b the next
 * @param c the next
 * @param d the next
 * @param e the next
 * @param f the next
 * @param g the next
 * @param h the last
 */
public record Eight(long a, long b, long c, long d, long e, long f, long g, long h) {
  /** Returns the one of a number. */
  public static Eight of(long n) {
    return new Eight(n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7);
  }

  /** Returns what its fields add up to. */
  public long sum() {
    return a + b + c + d + e + f + g + h;
  }
}
