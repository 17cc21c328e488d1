// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Reads and writes the bytes of a session unchanged. One thread at a time may read, and one may
 * write; neither waits.
 */
public class Wire {
  final SocketChannel channel;

  /**
   * Creates the wire of a channel.
   *
   * @param channel connected, non-blocking; its owner closes it
   */
  public Wire(SocketChannel channel) {
    this.channel = channel;
  }

  /**
   * Reads what has arrived.
   *
   * @return the number of bytes; 0 only if nothing has arrived or {@code to} is full; -1 at the end
   */
  public int read(ByteBuffer to) throws IOException {
    return channel.read(to);
  }

  /**
   * Writes as much as the channel accepts; returns the number of bytes removed from the buffers.
   */
  public long write(ByteBuffer[] from) throws IOException {
    return channel.write(from);
  }

  /** Whether bytes were removed from buffers and not sent yet; {@link #flush} sends them. */
  public boolean pending() {
    return false;
  }

  /** Sends those bytes; true if all were sent. */
  public boolean flush() throws IOException {
    return true;
  }

  /** Encodes a frame for the channel. The results must be sent in the order of the calls. */
  public ByteBuffer encrypted(ByteBuffer frame) {
    return frame;
  }
}
