// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.Status;

/** Up to {@link Side#WINDOW} operations in flight, the oldest first. */
public final class Window {
  private static final int MASK = Side.WINDOW - 1;

  private final Side side;
  private final long[] requests = new long[Side.WINDOW];
  private int head;
  private int size;

  /**
   * Creates an empty window.
   *
   * @param side whose operations
   */
  public Window(Side side) {
    this.side = side;
  }

  /**
   * Takes what an operation has answered; waits for the oldest if the window is full.
   *
   * @param request what it has answered
   */
  public void add(long request) {
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
    removeOldest();
  }

  boolean isFull() {
    return size == requests.length;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns the oldest one. */
  long oldest() {
    return requests[head];
  }

  /** Forgets the oldest one, which is over. */
  void removeOldest() {
    head = head + 1 & MASK;
    size--;
  }

  /** Waits for all. */
  public void drain() {
    while (size > 0) {
      finishOldest();
    }
  }
}
