// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Opens channels as the measured programs want them. */
final class Sockets {
  private static final int BACKLOG = 1_024;

  private Sockets() {}

  static ServerSocketChannel listen() throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
    return listener;
  }

  static int port(ServerSocketChannel listener) throws IOException {
    return ((InetSocketAddress) listener.getLocalAddress()).getPort();
  }

  static SocketChannel connect(int port) throws IOException {
    return prepare(
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
  }

  static SocketChannel prepare(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return channel;
  }
}
