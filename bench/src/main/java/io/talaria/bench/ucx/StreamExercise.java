// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** A stream of bytes, received into a buffer. */
final class StreamExercise extends Exercise {
  private final Kind kind;
  private final Window window;

  /** What the server waits for; 0: nothing. */
  private long awaited;

  StreamExercise(Side side, Kind kind, int sizeBytes) {
    super(side, sizeBytes);
    this.kind = kind;
    window = new Window(side);
  }

  private long send() {
    return side.endpoint().sendStream(side.out(), 0, sizeBytes, 0);
  }

  private long receive() {
    return side.endpoint().receiveStreamFully(side.in(), 0, sizeBytes);
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
    if (awaited == 0) {
      awaited = receive();
    }
    boolean answers = kind == Kind.LATENCY;
    for (int i = 0; i < TURN && side.finishSoon(awaited); i++) {
      long sent = answers ? send() : 0;
      awaited = receive();
      side.finish(sent);
      add(1);
    }
  }
}
