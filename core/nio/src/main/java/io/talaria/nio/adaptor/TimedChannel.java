// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;

/**
 * What a {@link SocketAdaptor} needs of its channel beyond the methods of {@code SocketChannel}.
 * Any thread may call any method.
 */
public interface TimedChannel {
  /**
   * Reads at least one byte, waiting for it.
   *
   * @param dst where to; it has room
   * @param timeoutNs the longest wait in nanoseconds, or 0 for any
   * @return how many bytes were read, or -1 at the end of the stream or after the input was shut
   *     down
   * @throws java.net.SocketTimeoutException if nothing came in time: "Read timed out"
   * @throws java.nio.channels.IllegalBlockingModeException if the channel is not blocking
   * @throws java.nio.channels.NotYetConnectedException if it is not connected
   * @throws IOException as {@code SocketChannel.read} throws it
   */
  int read(ByteBuffer dst, long timeoutNs) throws IOException;

  /**
   * Connects, waiting for the outcome, and closes the channel when it fails.
   *
   * @param remote the peer
   * @param timeoutNs the longest wait in nanoseconds, or 0 for any
   * @throws java.net.SocketTimeoutException if there was no answer in time: "Connect timed out"
   * @throws java.nio.channels.IllegalBlockingModeException if the channel is not blocking; it stays
   *     open
   * @throws IOException as {@code SocketChannel.connect} throws it
   */
  void connect(SocketAddress remote, long timeoutNs) throws IOException;

  /**
   * How many bytes can be read without waiting.
   *
   * @return a lower bound; 0 after the input was shut down
   * @throws IOException if the channel is closed
   */
  int available() throws IOException;

  /**
   * The local address; unlike {@code getLocalAddress} it may be asked after close too.
   *
   * @return the last one known, or null if the channel was never bound
   */
  SocketAddress localAddress();

  /**
   * The remote address; unlike {@code getRemoteAddress} it may be asked after close too.
   *
   * @return the last one known, or null if the channel was never connected
   */
  SocketAddress remoteAddress();

  /**
   * Whether the input has not been shut down.
   *
   * @return true also for a channel that is closed without a shutdown
   */
  boolean isInputOpen();

  /**
   * Whether the output has not been shut down.
   *
   * @return true also for a channel that is closed without a shutdown
   */
  boolean isOutputOpen();

  /**
   * Sends one byte of TCP urgent data.
   *
   * @param data the byte, in the lowest eight bits
   * @throws SocketException if the channel cannot do it
   * @throws IOException as a write throws it
   */
  default void sendUrgentData(int data) throws IOException {
    throw new SocketException("Urgent data not supported");
  }
}
