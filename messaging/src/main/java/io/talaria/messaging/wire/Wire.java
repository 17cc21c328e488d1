// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A session's bytes, as they are. One thread at a time reads, one at a time writes; neither waits.
 */
public class Wire {
  final SocketChannel channel;

  /**
   * Over a channel.
   *
   * @param channel connected, non-blocking; its owner closes it
   */
  public Wire(SocketChannel channel) {
    this.channel = channel;
  }

  /**
   * Reads what has come.
   *
   * @return how many bytes; 0 only if there are none now, or no room; -1 at the end
   */
  public int read(ByteBuffer to) throws IOException {
    return channel.read(to);
  }

  /** Writes what can be written; how many bytes were taken out of the buffers. */
  public long write(ByteBuffer[] from) throws IOException {
    return channel.write(from);
  }

  /** Whether bytes were taken that are not on their way yet: {@link #flush} sends them. */
  public boolean pending() {
    return false;
  }

  /** Sends those; whether all went. */
  public boolean flush() throws IOException {
    return true;
  }

  /** The bytes that stand for a frame on the channel; in the order in which they are sent. */
  public ByteBuffer encrypted(ByteBuffer frame) {
    return frame;
  }
}
