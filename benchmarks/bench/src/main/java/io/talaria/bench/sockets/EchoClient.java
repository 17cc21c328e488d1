// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** One connection of a selector-driven client: sends a message, then collects its echo. */
final class EchoClient implements EventLoop.Handler {
  /** Told when an echo is complete. */
  interface Listener {
    /**
     * An echo has been read completely; the next message may be sent.
     *
     * @param client whose echo it is
     */
    void echoed(EchoClient client) throws IOException;
  }

  private final SocketChannel channel;
  private final SelectionKey key;
  private final ByteBuffer out;
  private final ByteBuffer in;
  private final Listener listener;
  private long sentAt;

  EchoClient(int port, int sizeBytes, EventLoop loop, Listener listener) throws IOException {
    this.channel = Sockets.connect(port);
    this.out = ByteBuffer.allocateDirect(sizeBytes);
    this.in = ByteBuffer.allocateDirect(sizeBytes);
    this.listener = listener;
    channel.configureBlocking(false);
    this.key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
  }

  /** Returns when the last message was sent. */
  long sentAt() {
    return sentAt;
  }

  /**
   * Sends a message.
   *
   * @param now the time, in nanoseconds
   */
  void send(long now) throws IOException {
    sentAt = now;
    in.clear();
    out.clear();
    channel.write(out);
    if (out.hasRemaining()) {
      key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  @Override
  public void ready(SelectionKey selected) throws IOException {
    if (selected.isWritable()) {
      channel.write(out);
      if (!out.hasRemaining()) {
        selected.interestOps(SelectionKey.OP_READ);
      }
    }
    if (selected.isReadable()) {
      if (channel.read(in) < 0) {
        throw new EOFException("the server ended the connection");
      }
      if (!in.hasRemaining()) {
        listener.echoed(this);
      }
    }
  }

  void close() throws IOException {
    channel.close();
  }
}
