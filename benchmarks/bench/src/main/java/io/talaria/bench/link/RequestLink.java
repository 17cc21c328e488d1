// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

/** Messages of UCX that are received by a request, several of which can be posted ahead. */
abstract class RequestLink extends UcxLink {
  private final UcxWindow receives;

  RequestLink(UcxSide side) {
    super(side);
    receives = new UcxWindow(side);
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

  /** Asks for the next message before the answer to the last one is counted as sent. */
  @Override
  final void answer(long messages) {
    long awaited = startReceive();
    for (long left = messages; left > 0; left--) {
      side.finish(awaited);
      long sent = start();
      awaited = left > 1 ? startReceive() : 0;
      side.finish(sent);
    }
  }
}
