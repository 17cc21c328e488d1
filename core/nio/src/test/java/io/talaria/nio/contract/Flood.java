// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicLong;

/** A thread that writes to a blocking channel until that fails. */
final class Flood {
  private static final int QUIET_MS = 40;

  private final AtomicLong written = new AtomicLong();
  private final Doing<Void> writing;

  private Flood(SocketChannel channel, boolean gather) {
    writing =
        Doing.start(
            () -> {
              ByteBuffer chunk = ByteBuffer.allocateDirect(1 << 16);
              ByteBuffer[] chunks = {ByteBuffer.allocate(1), chunk};
              while (true) {
                chunks[0].clear();
                chunk.clear();
                written.addAndGet(gather ? channel.write(chunks) : channel.write(chunk));
              }
            });
  }

  static Flood into(SocketChannel channel) {
    return new Flood(channel, false);
  }

  static Flood gatheredInto(SocketChannel channel) {
    return new Flood(channel, true);
  }

  /** Waits until the buffers are full and the writer sleeps. */
  Flood whenFull() throws InterruptedException {
    long before = -1;
    int quietMs = 0;
    while (quietMs < QUIET_MS) {
      writing.whenWaiting();
      long now = written.get();
      quietMs = now == before && now > 0 ? quietMs + 1 : 0;
      before = now;
      Thread.sleep(1);
    }
    return this;
  }

  long written() {
    return written.get();
  }

  Doing<Void> doing() {
    return writing;
  }

  Throwable failure() throws Exception {
    return writing.failure();
  }
}
