// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

/** The time between each start and its stop, in all. For one thread. */
final class Stopwatch {
  private long beganNs;
  private long spentNs;

  Stopwatch() {}

  void start() {
    beganNs = System.nanoTime();
  }

  void stop() {
    spentNs += System.nanoTime() - beganNs;
  }

  /** Forgets what was spent so far. */
  void clear() {
    spentNs = 0;
  }

  double seconds() {
    return spentNs / 1e9;
  }
}
