// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Reads what an {@link OnewaySender} writes into a buffer of 64 KiB, counts it, and answers each
 * batch by one byte: a single connection in blocking mode, several in one event loop around {@code
 * select()}. Confined to one thread.
 */
final class OnewayReceiver {
  private static final int BUFFER_BYTES = 64 * 1024;

  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ByteBuffer answer = ByteBuffer.allocateDirect(1);
  private int accepted;
  private int open;

  void serveOne(ServerSocketChannel listener) throws IOException {
    try (SocketChannel channel = Sockets.prepare(listener.accept())) {
      Batch batch = new Batch(channel);
      while (batch.read()) {
        // Each call takes what there is.
      }
    }
  }

  void serveMany(ServerSocketChannel listener, int expected) throws IOException {
    try (EventLoop loop = new EventLoop(WaitStrategy.SELECT)) {
      listener.configureBlocking(false);
      EventLoop.Handler acceptor = key -> accept(listener, loop);
      listener.register(loop.selector(), SelectionKey.OP_ACCEPT, acceptor);
      while (accepted < expected || open > 0) {
        loop.turn();
      }
    }
  }

  private void accept(ServerSocketChannel listener, EventLoop loop) throws IOException {
    for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
      Sockets.prepare(channel).configureBlocking(false);
      channel.register(loop.selector(), SelectionKey.OP_READ, new Batch(channel));
      accepted++;
      open++;
    }
  }

  /** One connection: the header of the present batch, or how much of it is still to come. */
  private final class Batch implements EventLoop.Handler {
    private final SocketChannel channel;
    private final ByteBuffer header = ByteBuffer.allocate(Long.BYTES);
    private long remaining;

    Batch(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void ready(SelectionKey key) throws IOException {
      if (!read()) {
        channel.close();
        open--;
      }
    }

    /** Reads once; returns false at the end of the stream. */
    boolean read() throws IOException {
      buffer.clear();
      int count = channel.read(buffer);
      if (count > 0) {
        take(count);
      }
      return count >= 0;
    }

    private void take(int count) throws IOException {
      long payload = remaining > 0 ? count : takeHeader();
      remaining -= payload;
      if (remaining == 0 && header.position() == 0) {
        answer.clear();
        while (answer.hasRemaining()) {
          channel.write(answer);
        }
      }
    }

    /** Takes bytes of the header and returns how many bytes followed it. */
    private int takeHeader() {
      buffer.flip();
      while (buffer.hasRemaining() && header.hasRemaining()) {
        header.put(buffer.get());
      }
      if (!header.hasRemaining()) {
        remaining = header.getLong(0);
        header.clear();
      }
      return buffer.remaining();
    }
  }
}
