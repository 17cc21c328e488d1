// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.ucx.Side;
import io.talaria.bench.ucx.Window;

/** Messages of UCX that are received by a request, several of which can be posted ahead. */
abstract class RequestLink extends UcxLink {
  private final Window receives;

  RequestLink(Side side) {
    super(side);
    receives = new Window(side);
  }

  /** Begins to receive a message; returns what UCX answered. */
  abstract long startReceive();

  @Override
  public final void receive() {
    side.finish(startReceive());
  }

  @Override
  public final void receiveAll(long messages) {
    for (long i = 0; i < messages; i++) {
      receives.add(startReceive());
    }
    receives.drain();
  }
}
