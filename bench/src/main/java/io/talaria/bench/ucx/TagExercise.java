// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.Worker;

/** Messages by tag. */
final class TagExercise extends Exercise {
  private static final long TAG = 0x7a1a71a;
  private static final long ALL_BITS = -1;

  private final Worker worker;
  private final Kind kind;
  private final boolean synchronous;
  private final Window window;

  /** What the server waits for; 0: nothing. */
  private long awaited;

  TagExercise(Side side, Kind kind, int sizeBytes, boolean synchronous) {
    super(side, sizeBytes);
    worker = side.worker();
    this.kind = kind;
    this.synchronous = synchronous;
    window = new Window(side);
  }

  private long send() {
    return synchronous
        ? side.endpoint().sendTagSync(side.out(), 0, sizeBytes, TAG, 0)
        : side.endpoint().sendTag(side.out(), 0, sizeBytes, TAG, 0);
  }

  private long receive() {
    return worker.receiveTag(side.in(), 0, sizeBytes, TAG, ALL_BITS);
  }

  @Override
  void once() {
    long sent = send();
    side.finish(receive());
    side.finish(sent);
    add(1);
  }

  @Override
  void many(int operations) {
    for (int i = 0; i < operations; i++) {
      window.add(send());
    }
    window.drain();
    add(operations);
  }

  @Override
  void follow() {
    if (kind == Kind.LATENCY) {
      answer();
    } else {
      take();
    }
  }

  private void answer() {
    if (awaited == 0) {
      awaited = receive();
    }
    for (int i = 0; i < TURN && side.finishSoon(awaited); i++) {
      long sent = send();
      awaited = receive();
      side.finish(sent);
      add(1);
    }
  }

  private void take() {
    while (!window.isFull()) {
      window.add(receive());
    }
    for (int i = 0; i < TURN && side.finishSoon(window.oldest()); i++) {
      window.removeOldest();
      window.add(receive());
      add(1);
    }
  }
}
