// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.fabric.FabricStream;
import java.io.IOException;

/**
 * How threads in blocking calls sleep on an accelerated connection, and how they are woken there: a
 * strategy, since some fabrics ring bells on the control connection and others wake by themselves.
 */
abstract sealed class FabricSleep permits BellSleep, SelfWakingSleep {
  /** Longest sleep of one thread before it looks again by itself. */
  static final long LOOK_AGAIN_NS = 500_000_000L;

  final Lane lane;
  final FabricStream stream;

  FabricSleep(Lane lane, FabricStream stream) {
    this.lane = lane;
    this.stream = stream;
  }

  /**
   * A reader's; it has announced its wait.
   *
   * @param timeoutNs its time-out, or 0 for none; what is longer is slept in parts
   */
  abstract void read(long timeoutNs) throws IOException;

  /** A writer's; it has announced its wait. */
  abstract void write() throws IOException;

  /** Whether one who is about to sleep has nothing to wait for, as far as the fabric tells. */
  abstract boolean over(int op);

  static long shorter(long timeoutNs, long mostNs) {
    return timeoutNs == 0 ? mostNs : Math.min(timeoutNs, mostNs);
  }
}
