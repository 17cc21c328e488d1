// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.invoke.VarHandle;

/**
 * Writing into the peer's memory by verbs. For a round trip the last byte counts up, and the peer
 * looks at its own memory until it has come.
 */
final class VerbsWriteLink extends VerbsLink {
  private static final VarHandle BYTE = JAVA_BYTE.varHandle();

  private byte sentLast;
  private byte expected;

  VerbsWriteLink(VerbsSide side) {
    super(side);
  }

  /** Between runs all is at rest, so both sides begin to count anew. */
  @Override
  public void prepare(int size) {
    super.prepare(size);
    sentLast = 0;
    expected = 0;
    side.out().fill((byte) 0);
    side.in().fill((byte) 0);
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
    side.out().set(JAVA_BYTE, sizeBytes() - 1L, ++sentLast);
    side.write(sizeBytes());
  }

  @Override
  public void receive() throws IOException {
    expected++;
    while ((byte) BYTE.getOpaque(side.in(), sizeBytes() - 1L) != expected) {
      side.look();
    }
  }
}
