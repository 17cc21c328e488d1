// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;

/** What the ways to communicate by verbs share: one thread sends and receives. */
abstract class VerbsLink implements Link {
  /** How far receiving stays behind sending; less than what can be in flight. */
  private static final int LAG = VerbsSide.WINDOW / 2;

  final VerbsSide side;
  private int sizeBytes;

  VerbsLink(VerbsSide side) {
    this.side = side;
  }

  final int sizeBytes() {
    return sizeBytes;
  }

  @Override
  public void prepare(int size) {
    sizeBytes = size;
  }

  @Override
  public final void flush() throws IOException {
    side.flush();
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
  }

  @Override
  public final void close() {
    side.close();
  }
}
