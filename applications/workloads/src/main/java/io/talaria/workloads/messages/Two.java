// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

/**
 * The small object that is sent: 16 bytes.
 *
 * @param a its number
 * @param b another
 */
record Two(long a, long b) {
  static Two of(long number) {
    return new Two(number, 3 * number);
  }

  long sum() {
    return a + b;
  }
}
