// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.RemoteMemory;

/** Atomics on the first bytes of the peer's memory. The server only progresses. */
final class AtomicExercise extends Exercise {
  private final Atomic atomic;
  private final RemoteMemory remote;
  private final Window window;

  AtomicExercise(Side side, Atomic atomic) {
    super(side, 0);
    this.atomic = atomic;
    remote = side.remote();
    window = new Window(side);
  }

  @Override
  void once() {
    side.finish(atomic.begin(remote));
    add(1);
  }

  @Override
  void many(int operations) {
    for (int i = 0; i < operations; i++) {
      window.add(atomic.begin(remote));
    }
    window.drain();
    add(operations);
  }

  @Override
  void follow() {
    side.spin();
  }

  @Override
  long expected() {
    return 0;
  }
}
