// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A {@code SocketChannel} in blocking mode. */
final class BlockingLink implements Link {
  private final SocketChannel channel;
  private ByteBuffer outgoing = ByteBuffer.allocateDirect(0);
  private ByteBuffer incoming = ByteBuffer.allocateDirect(0);

  BlockingLink(SocketChannel channel) {
    this.channel = channel;
  }

  @Override
  public void prepare(int sizeBytes) {
    outgoing = ByteBuffer.allocateDirect(sizeBytes);
    incoming = ByteBuffer.allocateDirect(sizeBytes);
  }

  @Override
  public void send() throws IOException {
    outgoing.clear();
    while (outgoing.hasRemaining()) {
      channel.write(outgoing);
    }
  }

  @Override
  public void receive() throws IOException {
    incoming.clear();
    while (incoming.hasRemaining()) {
      if (channel.read(incoming) < 0) {
        throw new EOFException("the peer ended the connection");
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
