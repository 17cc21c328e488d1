// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

import io.talaria.messaging.Dispatch;

/**
 * What a receiver has added up.
 *
 * @param count how many objects came
 * @param sum of all their fields
 * @param wrong how many came out of their order
 */
public record Tally(long count, long sum, long wrong) {
  /** Adds up what one thread receives. */
  public static final class Adder {
    private final Receipt receipt = Receipt.of(Dispatch.INLINE);
    private long strange;

    /** Takes an object of any kind. */
    public void take(Object message) {
      if (message instanceof Two two) {
        receipt.take(two.a(), two.sum());
      } else if (message instanceof Eight eight) {
        receipt.take(eight.a(), eight.sum());
      } else if (message instanceof Block block) {
        receipt.take(block.number(), block.mask(), block.sum());
      } else {
        strange++;
      }
    }

    /** Returns what has come so far. */
    public Tally tally() {
      Tally taken = receipt.tally();
      return new Tally(taken.count, taken.sum, taken.wrong + strange);
    }
  }
}
