// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.invoke.VarHandle;

/**
 * Writing into the peer's memory by UCX. For a round trip the last byte counts up, and the peer
 * looks at its own memory until it has come.
 */
final class PutLink extends MemoryLink {
  private static final VarHandle BYTE = JAVA_BYTE.varHandle();

  private byte sentLast;
  private byte expected;

  PutLink(UcxSide side) {
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
  long start() {
    side.out().set(JAVA_BYTE, sizeBytes() - 1L, ++sentLast);
    return side.remote().put(side.out(), 0, sizeBytes(), 0, 0);
  }

  @Override
  public void receive() {
    expected++;
    while ((byte) BYTE.getOpaque(side.in(), sizeBytes() - 1L) != expected) {
      side.look();
    }
  }

  /** A put is done here before it is there: what tells is a flush. */
  @Override
  public void complete() {
    flush();
    side.flush();
  }
}
