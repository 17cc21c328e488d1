// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.ucx.ActiveMessage;

/** UCX's active messages without a header; what comes by rendezvous is received into a buffer. */
final class MessageLink extends UcxLink {
  private static final int ID = 1;

  /** Twice what can be in flight. */
  private static final int RECEIVES = 2 * UcxSide.WINDOW;

  private final long[] receives = new long[RECEIVES];
  private int head;
  private int tail;
  private long arrived;

  MessageLink(UcxSide side) {
    super(side);
    side.worker().onMessage(ID, this::received);
  }

  private void received(ActiveMessage message) {
    if (message.isRendezvous()) {
      receives[tail++ & RECEIVES - 1] = message.receive(side.in(), 0);
    } else {
      arrived++;
    }
  }

  @Override
  long start() {
    return side.endpoint().sendMessage(ID, side.out(), 0, side.out(), 0, sizeBytes(), 0);
  }

  @Override
  public void receive() {
    while (arrived == 0) {
      side.spin();
      while (head != tail && side.isOver(receives[head & RECEIVES - 1])) {
        head++;
        arrived++;
      }
    }
    arrived--;
  }
}
