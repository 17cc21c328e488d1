// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;

/**
 * Send and receive requests of a queue pair. A side that sends more than the other has asked for is
 * held up by the device: the receiver is not ready, and it tries again.
 */
final class VerbsMessageLink extends VerbsLink {
  private long arrived;

  VerbsMessageLink(VerbsSide side) {
    super(side);
  }

  @Override
  public void send() throws IOException {
    side.send(sizeBytes());
  }

  @Override
  public void receive() throws IOException {
    while (arrived == 0) {
      arrived += side.receive();
    }
    arrived--;
  }
}
