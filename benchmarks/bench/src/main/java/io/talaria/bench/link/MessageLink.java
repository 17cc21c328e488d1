// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.ucx.ActiveMessage;

/** UCX's active messages without a header; what comes by rendezvous is received into a buffer. */
final class MessageLink extends UcxLink {
  private static final int ID = 1;

  private long[] receives = new long[2 * UcxSide.WINDOW];
  private int head;
  private int tail;
  private long arrived;

  MessageLink(UcxSide side) {
    super(side);
    side.worker().onMessage(ID, this::received);
  }

  private void received(ActiveMessage message) {
    if (message.isRendezvous()) {
      if (tail - head == receives.length) {
        count();
      }
      if (tail - head == receives.length) {
        grow();
      }
      receives[tail++ & receives.length - 1] = message.receive(side.in(), 0);
    } else {
      arrived++;
    }
  }

  /**
   * Counts what is over: while this side does not receive, the peer may send more than its window.
   */
  private void count() {
    while (head != tail && side.isOver(receives[head & receives.length - 1])) {
      head++;
      arrived++;
    }
  }

  private void grow() {
    long[] larger = new long[2 * receives.length];
    for (int i = head; i != tail; i++) {
      larger[i & larger.length - 1] = receives[i & receives.length - 1];
    }
    receives = larger;
  }

  @Override
  long start() {
    return side.endpoint().sendMessage(ID, side.out(), 0, side.out(), 0, sizeBytes(), 0);
  }

  @Override
  public void receive() {
    while (arrived == 0) {
      side.spin();
      count();
    }
    arrived--;
  }
}
