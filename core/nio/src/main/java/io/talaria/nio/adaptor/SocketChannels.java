// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Opens channels to stand behind {@code java.net.Socket}: always blocking, and no interrupt closes
 * them. A virtual thread that is interrupted while it waits gets an {@code InterruptedIOException};
 * a platform thread continues to wait. Any thread may call any method.
 */
public interface SocketChannels {
  /**
   * Opens a channel to connect.
   *
   * @return neither bound nor connected
   * @throws IOException if there is no descriptor left
   */
  Client openClient() throws IOException;

  /**
   * Opens a channel that listens.
   *
   * @return not bound
   * @throws IOException if there is no descriptor left
   */
  Listener openListener() throws IOException;

  /**
   * One channel, seen in two ways.
   *
   * @param channel the channel
   * @param timed the same
   */
  record Client(SocketChannel channel, TimedChannel timed) {}

  /** A channel that listens. */
  interface Listener {
    /**
     * Returns the channel, for everything but accepting.
     *
     * @return always the same
     */
    ServerSocketChannel channel();

    /**
     * Accepts a connection, waiting for it.
     *
     * @param timeoutNs the longest wait in nanoseconds, or 0 for any
     * @return a connected channel of this kind
     * @throws java.net.SocketTimeoutException if none came in time: "Accept timed out"
     * @throws IOException as {@code ServerSocketChannel.accept} throws it
     */
    Client accept(long timeoutNs) throws IOException;
  }
}
