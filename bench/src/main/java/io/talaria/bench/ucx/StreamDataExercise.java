// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.StreamChunk;

/** A stream of bytes, received where UCX has put them. */
final class StreamDataExercise extends Exercise {
  private final Kind kind;
  private final Window window;
  private final StreamChunk chunk = new StreamChunk();

  /** Bytes received of a message that is not whole yet. */
  private long begun;

  StreamDataExercise(Side side, Kind kind, int sizeBytes) {
    super(side, sizeBytes);
    this.kind = kind;
    window = new Window(side);
  }

  private long send() {
    return side.endpoint().sendStream(side.out(), 0, sizeBytes, 0);
  }

  /** Takes what is there; returns how many messages are whole now. */
  private long receive() {
    Endpoint endpoint = side.endpoint();
    long length;
    while ((length = endpoint.receiveStream(chunk)) > 0) {
      begun += length;
      chunk.release();
    }
    Status.check(length, "ucp_stream_recv_data_nb");
    if (begun < sizeBytes) {
      return 0;
    }
    long whole = begun / sizeBytes;
    begun -= whole * sizeBytes;
    return whole;
  }

  @Override
  void once() {
    long sent = send();
    while (receive() == 0) {
      side.spin();
    }
    side.finish(sent);
    add(1);
  }

  @Override
  void many(int operations) {
    for (int i = 0; i < operations; i++) {
      window.add(send());
    }
    window.drain();
    add(operations);
  }

  @Override
  void follow() {
    for (int i = 0; i < TURN; i++) {
      long whole = receive();
      if (whole == 0) {
        side.spin();
      } else if (kind == Kind.LATENCY) {
        side.finish(send());
      }
      add(whole);
    }
  }
}
