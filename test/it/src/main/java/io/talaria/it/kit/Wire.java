// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Whole messages on a channel, with blocking calls or with a selector that waits. Confined to one
 * thread.
 */
public final class Wire implements Closeable {
  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;

  /**
   * Takes a connected channel.
   *
   * @param channel becomes non-blocking if a selector is to wait
   * @param selecting whether a selector waits
   * @throws IOException if there is no selector
   */
  public Wire(SocketChannel channel, boolean selecting) throws IOException {
    this.channel = channel;
    if (selecting) {
      selector = Selector.open();
      channel.configureBlocking(false);
      key = channel.register(selector, 0);
    } else {
      selector = null;
      key = null;
    }
  }

  /**
   * Writes everything.
   *
   * @param message what to write
   * @throws IOException as the channel throws it
   */
  public void write(ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      if (channel.write(message) == 0) {
        await(SelectionKey.OP_WRITE);
      }
    }
  }

  /**
   * Reads until the buffer is full or the stream ends.
   *
   * @param message where to
   * @return false if the stream ended before
   * @throws IOException as the channel throws it
   */
  public boolean read(ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      int read = channel.read(message);
      if (read < 0) {
        return false;
      }
      if (read == 0) {
        await(SelectionKey.OP_READ);
      }
    }
    return true;
  }

  private void await(int interest) throws IOException {
    if (key == null) {
      throw new IllegalStateException("a blocking call moved no bytes");
    }
    key.interestOps(interest);
    selector.select();
    if (!selector.selectedKeys().remove(key)) {
      throw new IllegalStateException("a select without limit returned, and nothing is ready");
    }
  }

  /**
   * The connection.
   *
   * @return the channel
   */
  public SocketChannel channel() {
    return channel;
  }

  @Override
  public void close() throws IOException {
    channel.close();
    if (selector != null) {
      selector.close();
    }
  }
}
