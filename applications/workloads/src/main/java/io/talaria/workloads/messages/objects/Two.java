// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

/**
 * The small object that is sent: 16 bytes.
 *
 * @param a its number
 * @param b another
 */
public record Two(long a, long b) {
  /** Returns the one of a number. */
  public static Two of(long number) {
    return new Two(number, 3 * number);
  }

  /** Returns what its fields add up to. */
  public long sum() {
    return a + b;
  }
}
