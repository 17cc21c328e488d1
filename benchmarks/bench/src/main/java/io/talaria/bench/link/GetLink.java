// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

/** Reading the peer's memory by UCX. */
final class GetLink extends MemoryLink {
  GetLink(UcxSide side) {
    super(side);
  }

  @Override
  long start() {
    return side.remote().get(side.in(), 0, sizeBytes(), 0);
  }

  @Override
  public void receive() {
    throw new UnsupportedOperationException("nothing is sent by reading the peer's memory");
  }
}
