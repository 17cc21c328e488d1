// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/**
 * TCP's keep-alive: ends a connection whose other host is gone although nothing is sent, and keeps
 * a firewall from forgetting one that is idle.
 */
public final class KeepAlive {
  private KeepAlive() {}

  /**
   * Enables it. A run-time image without {@code jdk.net} keeps the system's times.
   *
   * @param channel of TCP
   * @param idleS seconds without a byte until the other host is asked
   * @param intervalS seconds until it is asked again
   * @param count how many times it is asked until the connection ends
   * @throws IOException if the channel is closed or refuses
   */
  public static void enable(SocketChannel channel, int idleS, int intervalS, int count)
      throws IOException {
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    try {
      channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, idleS);
      channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, intervalS);
      channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, count);
    } catch (UnsupportedOperationException | NoClassDefFoundError e) {
      // The system's times hold.
    }
  }
}
