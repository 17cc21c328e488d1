// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

/** Messages of UCX's by tag. */
final class TagLink extends RequestLink {
  private static final long TAG = 0x0b5e;
  private static final long ALL_BITS = -1;

  private final boolean synchronous;

  /**
   * Takes over a side.
   *
   * @param side the side
   * @param synchronous whether a message counts as sent only when the peer has taken it
   */
  TagLink(UcxSide side, boolean synchronous) {
    super(side);
    this.synchronous = synchronous;
  }

  @Override
  long start() {
    return synchronous
        ? side.endpoint().sendTagSync(side.out(), 0, sizeBytes(), TAG, 0)
        : side.endpoint().sendTag(side.out(), 0, sizeBytes(), TAG, 0);
  }

  @Override
  long startReceive() {
    return side.worker().receiveTag(side.in(), 0, sizeBytes(), TAG, ALL_BITS);
  }
}
