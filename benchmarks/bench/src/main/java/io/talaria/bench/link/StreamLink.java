// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

/** A stream of UCX's, received into a buffer. */
final class StreamLink extends RequestLink {
  StreamLink(UcxSide side) {
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
