// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** Reading the peer's memory. The server only progresses. */
final class GetExercise extends Exercise {
  private final Window window;

  GetExercise(Side side, int sizeBytes) {
    super(side, sizeBytes);
    window = new Window(side);
  }

  private long get() {
    return side.remote().get(side.in(), 0, sizeBytes, 0);
  }

  @Override
  void once() {
    side.finish(get());
    add(1);
  }

  @Override
  void many(int operations) {
    for (int i = 0; i < operations; i++) {
      window.add(get());
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
