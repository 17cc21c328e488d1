// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.ucx.Side;

/** Messages of UCX's by tag. */
final class TagLink extends RequestLink {
  private static final long TAG = 0x0b5e;
  private static final long ALL_BITS = -1;

  TagLink(Side side, boolean server) {
    super(side);
  }

  @Override
  long start() {
    return side.endpoint().sendTag(side.out(), 0, sizeBytes(), TAG, 0);
  }

  @Override
  long startReceive() {
    return side.worker().receiveTag(side.in(), 0, sizeBytes(), TAG, ALL_BITS);
  }
}
