// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Accepts a number of connections and echoes whole messages on each until all have ended, in one
 * event loop. Confined to one thread.
 */
final class SelectorEchoServer implements EventLoop.Handler {
  private final ServerSocketChannel listener;
  private final EventLoop loop;
  private final int sizeBytes;
  private final int expected;
  private final AllocMeter meter;
  private int accepted;
  private int open;

  SelectorEchoServer(
      ServerSocketChannel listener, EventLoop loop, int sizeBytes, int expected, AllocMeter meter) {
    this.listener = listener;
    this.loop = loop;
    this.sizeBytes = sizeBytes;
    this.expected = expected;
    this.meter = meter;
  }

  void serve() throws IOException {
    listener.configureBlocking(false);
    listener.register(loop.selector(), SelectionKey.OP_ACCEPT, this);
    while (accepted < expected || open > 0) {
      loop.turn();
    }
  }

  @Override
  public void ready(SelectionKey key) throws IOException {
    for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
      Sockets.prepare(channel).configureBlocking(false);
      channel.register(loop.selector(), SelectionKey.OP_READ, new Connection(channel));
      accepted++;
      open++;
    }
  }

  /** One connection: either collects a message, or writes one out. */
  private final class Connection implements EventLoop.Handler {
    private final SocketChannel channel;
    private final ByteBuffer message = ByteBuffer.allocateDirect(sizeBytes);

    Connection(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void ready(SelectionKey key) throws IOException {
      if (key.isWritable()) {
        write();
        if (!message.hasRemaining()) {
          message.clear();
          key.interestOps(SelectionKey.OP_READ);
        }
      } else if (key.isReadable()) {
        read(key);
      }
    }

    private void read(SelectionKey key) throws IOException {
      if (channel.read(message) < 0) {
        channel.close();
        open--;
        return;
      }
      if (message.hasRemaining()) {
        return;
      }
      message.flip();
      write();
      if (message.hasRemaining()) {
        key.interestOps(SelectionKey.OP_WRITE);
      } else {
        message.clear();
      }
    }

    private void write() throws IOException {
      channel.write(message);
      if (!message.hasRemaining() && meter != null) {
        meter.tick();
      }
    }
  }
}
