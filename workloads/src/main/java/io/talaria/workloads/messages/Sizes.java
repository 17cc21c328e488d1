// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import java.util.List;

/** The objects that are sent. */
final class Sizes {
  static final int SMALL = 16;
  static final int LARGE = 64;
  static final List<Integer> ALL = List.of(SMALL, LARGE);

  private Sizes() {}

  static Object object(int sizeBytes, long number) {
    return sizeBytes == SMALL ? Two.of(number) : Eight.of(number);
  }

  /** What the fields of that object add up to. */
  static long sum(int sizeBytes, long number) {
    return sizeBytes == SMALL ? 4 * number : 8 * number + 28;
  }
}
