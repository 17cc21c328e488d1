// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Accepts one connection and echoes whole messages on it until it ends, all in blocking mode. */
final class BlockingEchoServer {
  private BlockingEchoServer() {}

  static void serve(ServerSocketChannel listener, int sizeBytes, AllocMeter meter)
      throws IOException {
    try (SocketChannel channel = Sockets.prepare(listener.accept())) {
      ByteBuffer message = ByteBuffer.allocateDirect(sizeBytes);
      while (echo(channel, message)) {
        if (meter != null) {
          meter.tick();
        }
      }
    }
  }

  private static boolean echo(SocketChannel channel, ByteBuffer message) throws IOException {
    message.clear();
    while (message.hasRemaining()) {
      if (channel.read(message) < 0) {
        if (message.position() > 0) {
          throw new EOFException("connection ended within a message");
        }
        return false;
      }
    }
    message.flip();
    while (message.hasRemaining()) {
      channel.write(message);
    }
    return true;
  }
}
