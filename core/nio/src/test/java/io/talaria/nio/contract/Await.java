// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** Waits for what another thread, the peer or the system is about to do. */
final class Await {
  private static final long DEADLINE_NS = 15_000_000_000L;

  private Await() {}

  @FunctionalInterface
  interface Condition {
    boolean holds() throws Exception;
  }

  static void until(String what, Condition condition) throws Exception {
    long start = System.nanoTime();
    while (!condition.holds()) {
      if (System.nanoTime() - start > DEADLINE_NS) {
        throw new AssertionError("not in time: " + what);
      }
      Thread.sleep(1);
    }
  }

  /** Waits until a channel has something to read, an end or a failure; it may be in any mode. */
  static void readable(SocketChannel channel) throws IOException {
    boolean blocking = channel.isBlocking();
    channel.configureBlocking(false);
    try (Selector selector = channel.provider().openSelector()) {
      channel.register(selector, SelectionKey.OP_READ);
      if (selector.select(DEADLINE_NS / 1_000_000) == 0) {
        throw new AssertionError("nothing to read in time: " + channel);
      }
    }
    channel.configureBlocking(blocking);
  }

  /** What a write throws at last: a reset, and the answer to a first write, take their time. */
  static IOException writeFailure(SocketChannel channel) throws Exception {
    IOException[] thrown = {null};
    until(
        "a failing write",
        () -> {
          try {
            channel.write(ByteBuffer.allocate(1));
          } catch (IOException e) {
            thrown[0] = e;
          }
          return thrown[0] != null;
        });
    return thrown[0];
  }
}
