// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.ucx.Status;
import io.talaria.ucx.StreamChunk;

/** A stream of UCX's, received where UCX has put the bytes. */
final class StreamDataLink extends UcxLink {
  private final StreamChunk chunk = new StreamChunk();

  /** Bytes received of messages that {@link #receive} has not taken yet. */
  private long arrived;

  StreamDataLink(UcxSide side) {
    super(side);
  }

  @Override
  long start() {
    return side.endpoint().sendStream(side.out(), 0, sizeBytes(), 0);
  }

  @Override
  public void receive() {
    while (arrived < sizeBytes()) {
      long length = side.endpoint().receiveStream(chunk);
      Status.check(length, "ucp_stream_recv_data_nb");
      if (length == 0) {
        side.spin();
      } else {
        arrived += length;
        chunk.release();
      }
    }
    arrived -= sizeBytes();
  }
}
