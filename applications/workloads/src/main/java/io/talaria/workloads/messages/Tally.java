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
        check(two.a(), -1);
        sum += two.sum();
      } else if (message instanceof Eight eight) {
        check(eight.a(), -1);
        sum += eight.sum();
      } else if (message instanceof Block block) {
        check(block.number(), block.mask());
        sum += block.sum();
      } else {
        wrong++;
      }
    }

    private void check(long number, long mask) {
      if (((number ^ count++) & mask) != 0) {
        wrong++;
      }
    }

    Tally tally() {
      return new Tally(count, sum, wrong);
    }
  }

  /** What must have come after so many objects of a size. */
  static Tally expected(long count, int sizeBytes) {
    return new Tally(count, Sizes.sumOfFirst(sizeBytes, count), 0);
  }
}
