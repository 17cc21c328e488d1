// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.ActiveMessage;

/** Active messages without a header. What comes by rendezvous is received into a buffer. */
final class MessageExercise extends Exercise {
  private static final int ID = 1;

  /** Twice what can be in flight. */
  private static final int RECEIVES = 2 * Side.WINDOW;

  private final Kind kind;
  private final Window window;
  private final long[] receives = new long[RECEIVES];
  private int head;
  private int tail;
  private long arrived;

  MessageExercise(Side side, Kind kind, int sizeBytes) {
    super(side, sizeBytes);
    this.kind = kind;
    window = new Window(side);
  }

  @Override
  void begin(boolean server) {
    // The sender of a one-way traffic needs no handler.
    if (server || kind == Kind.LATENCY) {
      side.worker().onMessage(ID, this::received);
    }
  }

  private void received(ActiveMessage message) {
    if (message.isRendezvous()) {
      receives[tail++ & RECEIVES - 1] = message.receive(side.in(), 0);
    } else {
      arrived++;
    }
  }

  /** Lets messages come; returns whether there are more than were seen. */
  private boolean receive() {
    if (arrived > count()) {
      return true;
    }
    side.spin();
    while (head != tail && side.isOver(receives[head & RECEIVES - 1])) {
      head++;
      arrived++;
    }
    return arrived > count();
  }

  private long send() {
    return side.endpoint().sendMessage(ID, side.out(), 0, side.out(), 0, sizeBytes, 0);
  }

  @Override
  void once() {
    long sent = send();
    while (!receive()) {}
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
    for (int i = 0; i < TURN && receive(); i++) {
      if (kind == Kind.LATENCY) {
        side.finish(send());
        add(1);
      } else {
        add(arrived - count());
      }
    }
  }
}
