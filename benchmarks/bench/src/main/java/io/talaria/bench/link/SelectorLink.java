// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** A {@code SocketChannel} in non-blocking mode, with a selector of its own. */
final class SelectorLink implements Link {
  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final boolean sleeps;
  private ByteBuffer outgoing = ByteBuffer.allocateDirect(0);
  private ByteBuffer incoming = ByteBuffer.allocateDirect(0);

  /**
   * Takes over a channel.
   *
   * @param channel the channel
   * @param sleeps whether the selector sleeps until something is ready, or is asked over and over
   */
  SelectorLink(SocketChannel channel, boolean sleeps) throws IOException {
    this.channel = channel;
    this.sleeps = sleeps;
    channel.configureBlocking(false);
    selector = Selector.open();
    key = channel.register(selector, 0);
  }

  @Override
  public void prepare(int sizeBytes) {
    outgoing = ByteBuffer.allocateDirect(sizeBytes);
    incoming = ByteBuffer.allocateDirect(sizeBytes);
  }

  private void await(int operations) throws IOException {
    if (key.interestOps() != operations) {
      key.interestOps(operations);
    }
    if (sleeps) {
      selector.select();
    } else {
      while (selector.selectNow() == 0) {
        Thread.onSpinWait();
      }
    }
    selector.selectedKeys().clear();
  }

  private void read() throws IOException {
    if (channel.read(incoming) < 0) {
      throw new EOFException("the peer ended the connection");
    }
  }

  @Override
  public void send() throws IOException {
    outgoing.clear();
    channel.write(outgoing);
    while (outgoing.hasRemaining()) {
      await(SelectionKey.OP_WRITE);
      channel.write(outgoing);
    }
  }

  /** Waits first, as an event loop does: readiness is what is measured. */
  @Override
  public void receive() throws IOException {
    incoming.clear();
    while (incoming.hasRemaining()) {
      await(SelectionKey.OP_READ);
      read();
    }
  }

  /** Reads as long as something comes, as a program does that expects much. */
  @Override
  public void receiveAll(long messages) throws IOException {
    for (long i = 0; i < messages; i++) {
      incoming.clear();
      while (incoming.hasRemaining()) {
        int before = incoming.position();
        read();
        if (incoming.position() == before) {
          await(SelectionKey.OP_READ);
        }
      }
    }
  }

  @Override
  public void both(long messages) throws IOException {
    long unsent = messages;
    long missing = messages;
    outgoing.clear();
    incoming.clear();
    while (unsent > 0 || missing > 0) {
      int moved = 0;
      if (unsent > 0) {
        moved += channel.write(outgoing);
        if (!outgoing.hasRemaining()) {
          outgoing.clear();
          unsent--;
        }
      }
      if (missing > 0) {
        int before = incoming.position();
        read();
        moved += incoming.position() - before;
        if (!incoming.hasRemaining()) {
          incoming.clear();
          missing--;
        }
      }
      if (moved == 0) {
        await((unsent > 0 ? SelectionKey.OP_WRITE : 0) | (missing > 0 ? SelectionKey.OP_READ : 0));
      }
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
    selector.close();
  }
}
