// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

/**
 * What a receiver has added up.
 *
 * @param count how many objects came
 * @param sum of all their fields
 * @param wrong how many came out of their order
 */
record Tally(long count, long sum, long wrong) {
  /** Adds up, for one thread. */
  static final class Adder {
    private long count;
    private long sum;
    private long wrong;

    void take(Object message) {
      if (message instanceof Two two) {
        check(two.a());
        sum += two.sum();
      } else if (message instanceof Eight eight) {
        check(eight.a());
        sum += eight.sum();
      } else {
        wrong++;
      }
    }

    private void check(long number) {
      if (number != count++) {
        wrong++;
      }
    }

    Tally tally() {
      return new Tally(count, sum, wrong);
    }
  }

  /** What must have come after so many objects of a size. */
  static Tally expected(long count, int sizeBytes) {
    long numbers = count * (count - 1) / 2;
    long sum = sizeBytes == Sizes.SMALL ? 4 * numbers : 8 * numbers + 28 * count;
    return new Tally(count, sum, 0);
  }
}
