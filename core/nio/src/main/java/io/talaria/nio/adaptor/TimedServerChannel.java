// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;

/**
 * What a {@link ServerSocketAdaptor} needs of its channel beyond the methods of {@code
 * ServerSocketChannel}. Any thread may call any method.
 */
public interface TimedServerChannel {
  /**
   * Accepts a connection, waiting for it.
   *
   * @param timeoutNs the longest wait in nanoseconds, greater than 0
   * @return a connected channel in blocking mode
   * @throws java.net.SocketTimeoutException if none came in time: "Accept timed out"
   * @throws java.nio.channels.IllegalBlockingModeException if the channel is not blocking
   * @throws IOException as {@code ServerSocketChannel.accept} throws it
   */
  SocketChannel accept(long timeoutNs) throws IOException;

  /**
   * The local address; unlike {@code getLocalAddress} it may be asked after close too.
   *
   * @return the last one known, or null if the channel was never bound
   */
  SocketAddress localAddress();
}
