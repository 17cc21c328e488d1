// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.ucx.Status;

/** Up to {@link UcxSide#WINDOW} operations in flight, the oldest first. */
final class UcxWindow {
  private static final int MASK = UcxSide.WINDOW - 1;

  private final UcxSide side;
  private final long[] requests = new long[UcxSide.WINDOW];
  private int head;
  private int size;

  /**
   * Creates an empty window.
   *
   * @param side whose operations
   */
  UcxWindow(UcxSide side) {
    this.side = side;
  }

  /**
   * Takes what an operation has answered; waits for the oldest if the window is full.
   *
   * @param request what it has answered
   */
  void add(long request) {
    if (request <= 0) {
      Status.check(request, "an operation");
      return;
    }
    if (size == requests.length) {
      finishOldest();
    }
    requests[head + size & MASK] = request;
    size++;
  }

  private void finishOldest() {
    side.finish(requests[head]);
    head = head + 1 & MASK;
    size--;
  }

  /** Waits for all. */
  void drain() {
    while (size > 0) {
      finishOldest();
    }
  }
}
