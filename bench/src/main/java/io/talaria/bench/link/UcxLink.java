// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.ucx.Side;
import io.talaria.bench.ucx.Window;

/** What all of the ways to communicate by this project's binding of UCX share. */
abstract class UcxLink extends PipelinedLink {
  final Side side;
  private final Window sends;

  UcxLink(Side side) {
    this.side = side;
    sends = new Window(side);
  }

  /** Begins to send a message or an access; returns what UCX answered. */
  abstract long start();

  @Override
  public final void send() {
    sends.add(start());
  }

  @Override
  public final void flush() {
    sends.drain();
  }

  @Override
  final void settle() {
    side.flush();
  }

  @Override
  final boolean progressOnce() {
    return side.worker().progress() > 0;
  }

  @Override
  public final void close() {
    side.close();
  }
}
