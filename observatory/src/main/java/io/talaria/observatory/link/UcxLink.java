// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.link;

import io.talaria.cli.bench.ucx.Side;
import io.talaria.cli.bench.ucx.Window;

/**
 * What all of UCX's ways to communicate share: several sends in flight, and one thread that both
 * sends and receives, because a worker has one.
 */
abstract class UcxLink implements Link {
  /** How far receiving stays behind sending; less than what can be in flight. */
  private static final int LAG = Side.WINDOW / 2;

  final Side side;
  private final Window sends;
  private int sizeBytes;

  UcxLink(Side side) {
    this.side = side;
    sends = new Window(side);
  }

  /** Begins to send a message or an access; returns what UCX answered. */
  abstract long start();

  final int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public void prepare(int size) {
    sizeBytes = size;
  }

  @Override
  public final void send() {
    sends.add(start());
  }

  @Override
  public final void flush() {
    sends.drain();
  }

  @Override
  public final void sendAll(long messages) {
    for (long i = 0; i < messages; i++) {
      send();
    }
    flush();
    side.flush();
  }

  @Override
  public final void echo(long messages) throws java.io.IOException {
    Link.super.echo(messages);
    side.flush();
  }

  @Override
  public final void both(long messages) throws java.io.IOException {
    for (long i = 0; i < messages; i++) {
      send();
      if (i >= LAG) {
        receive();
      }
    }
    receiveAll(Math.min(messages, LAG));
    flush();
    side.flush();
  }

  @Override
  public final void close() {
    side.close();
  }
}
