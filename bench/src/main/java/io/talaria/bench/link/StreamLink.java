// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.ucx.Side;

/** A stream of UCX's, received into a buffer. */
final class StreamLink extends RequestLink {
  StreamLink(Side side, boolean server) {
    super(side);
  }

  @Override
  long start() {
    return side.endpoint().sendStream(side.out(), 0, sizeBytes(), 0);
  }

  @Override
  long startReceive() {
    return side.endpoint().receiveStreamFully(side.in(), 0, sizeBytes());
  }
}
