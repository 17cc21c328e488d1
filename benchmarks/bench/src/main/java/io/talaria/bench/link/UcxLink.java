// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;

/** What all of the ways to communicate by this project's binding of UCX share. */
abstract class UcxLink extends PipelinedLink {
  final UcxSide side;
  private final UcxWindow sends;

  UcxLink(UcxSide side) {
    this.side = side;
    sends = new UcxWindow(side);
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

  /** Looks for the answer before it asks whether all is sent. */
  @Override
  public final void pingPong(long messages, Laps laps) throws IOException {
    for (long i = 0; i < messages; i++) {
      laps.begin();
      send();
      receive();
      flush();
      laps.end();
    }
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
