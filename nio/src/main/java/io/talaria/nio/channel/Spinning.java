// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long threads of this process may spin before they sleep, and how many at a time: at most half
 * the cores, but one at least.
 */
final class Spinning {
  private final long spinNs;
  private final int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  private final AtomicInteger spinners = new AtomicInteger();

  Spinning(long spinNs) {
    this.spinNs = spinNs;
  }

  long spinNs() {
    return spinNs;
  }

  /** Whether the caller may spin; if so, it must call {@link #leave}. */
  boolean tryEnter() {
    if (spinNs == 0) {
      return false;
    }
    if (spinners.getAndIncrement() < most) {
      return true;
    }
    spinners.getAndDecrement();
    return false;
  }

  void leave() {
    spinners.getAndDecrement();
  }
}
