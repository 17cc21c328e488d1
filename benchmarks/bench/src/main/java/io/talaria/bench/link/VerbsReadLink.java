// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;

/** Reading the peer's memory by verbs. */
final class VerbsReadLink extends VerbsLink {
  VerbsReadLink(VerbsSide side) {
    super(side);
  }

  @Override
  public boolean oneSided() {
    return true;
  }

  @Override
  public void access() throws IOException {
    send();
  }

  @Override
  public void send() throws IOException {
    side.read(sizeBytes());
  }

  @Override
  public void receive() {
    throw new UnsupportedOperationException("nothing is sent by reading the peer's memory");
  }
}
