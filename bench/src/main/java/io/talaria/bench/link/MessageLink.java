// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.ucx.Side;
import io.talaria.ucx.ActiveMessage;
import java.util.ArrayDeque;

/** UCX's active messages without a header; what comes by rendezvous is received into a buffer. */
final class MessageLink extends UcxLink {
  private static final int ID = 1;

  private final ArrayDeque<Long> receives = new ArrayDeque<>();
  private long arrived;

  MessageLink(Side side, boolean server) {
    super(side);
    side.worker().onMessage(ID, this::received);
  }

  private void received(ActiveMessage message) {
    if (message.isRendezvous()) {
      receives.add(message.receive(side.in(), 0));
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
      while (!receives.isEmpty() && side.isOver(receives.peek())) {
        receives.remove();
        arrived++;
      }
    }
    arrived--;
  }
}
