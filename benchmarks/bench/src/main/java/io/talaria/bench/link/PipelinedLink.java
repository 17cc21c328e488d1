// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;

/**
 * What all libraries on UCX share: several sends in flight, and one thread that both sends and
 * receives, because a worker has one.
 */
abstract class PipelinedLink implements Link {
  /** How far receiving stays behind sending; less than what can be in flight. */
  private static final int LAG = UcxSide.WINDOW / 2;

  private int sizeBytes;

  /** Waits until all that was sent has reached the peer. */
  abstract void settle() throws IOException;

  /** Lets UCX work once; returns whether there was anything to do. */
  abstract boolean progressOnce() throws IOException;

  final int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public void prepare(int size) {
    sizeBytes = size;
  }

  /** Where data goes by TCP, a side settles only if the other's worker takes and answers it. */
  @Override
  public final boolean needsProgress() {
    return true;
  }

  @Override
  public final boolean progress() throws IOException {
    boolean any = false;
    while (progressOnce()) {
      any = true;
    }
    return any;
  }

  @Override
  public final void sendAll(long messages) throws IOException {
    Link.super.sendAll(messages);
    settle();
  }

  @Override
  public final void echo(long messages) throws IOException {
    answer(messages);
    settle();
  }

  /** Answers messages, whose answers may be on their way still. */
  void answer(long messages) throws IOException {
    Link.super.echo(messages);
  }

  @Override
  public final void both(long messages) throws IOException {
    for (long i = 0; i < messages; i++) {
      send();
      if (i >= LAG) {
        receive();
      }
    }
    receiveAll(Math.min(messages, LAG));
    flush();
    settle();
  }
}
