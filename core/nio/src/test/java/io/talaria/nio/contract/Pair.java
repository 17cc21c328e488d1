// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import io.talaria.nio.Connections;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** The two ends of one connection, and its listener. */
final class Pair implements AutoCloseable {
  static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
  private static final long DEADLINE_NS = 20_000_000_000L;

  final SocketChannel client;
  final SocketChannel server;
  private final ServerSocketChannel listener;

  private Pair(SocketChannel client, SocketChannel server, ServerSocketChannel listener) {
    this.client = client;
    this.server = server;
    this.listener = listener;
  }

  static Pair of(SocketChannel client, SocketChannel server) {
    return new Pair(client, server, null);
  }

  static ServerSocketChannel listen(SelectorProvider provider) throws IOException {
    ServerSocketChannel listener = provider.openServerSocketChannel();
    listener.bind(new InetSocketAddress(LOOPBACK, 0), 256);
    return listener;
  }

  static Pair connect(SelectorProvider provider) throws IOException {
    return connect(provider, listen(provider), true);
  }

  static Pair connect(SelectorProvider provider, ServerSocketChannel listener) throws IOException {
    return connect(provider, listener, false);
  }

  private static Pair connect(
      SelectorProvider provider, ServerSocketChannel listener, boolean owned) throws IOException {
    SocketChannel client = provider.openSocketChannel();
    client.connect(listener.getLocalAddress());
    SocketChannel server = listener.accept();
    if (!server.getRemoteAddress().equals(client.getLocalAddress())) {
      throw new IOException("a stranger came: " + server + " instead of " + client);
    }
    return new Pair(client, server, owned ? listener : null);
  }

  /** Whether both directions are on the transport. */
  boolean accelerated() {
    return fast(client) && fast(server);
  }

  private static boolean fast(SocketChannel channel) {
    return channel.toString().contains("ring") || channel.toString().contains("ucx");
  }

  /** Exchanges bytes until both directions are on the transport. Blocking mode only. */
  void accelerate() throws IOException {
    long start = System.nanoTime();
    ByteBuffer one = ByteBuffer.allocate(1);
    int more = 2;
    while (more > 0) {
      if (accelerated()) {
        more--;
      } else if (System.nanoTime() - start > DEADLINE_NS) {
        throw new IOException(
            "not accelerated in time: "
                + client
                + ", "
                + server
                + Connections.snapshot().stream().map(c -> "\n" + c).toList());
      }
      one.clear();
      client.write(one);
      one.clear();
      server.read(one);
      one.clear();
      server.write(one);
      one.clear();
      client.read(one);
      if (more == 2) {
        Thread.onSpinWait();
      }
    }
  }

  void configureBlocking(boolean block) throws IOException {
    client.configureBlocking(block);
    server.configureBlocking(block);
  }

  @Override
  public void close() throws IOException {
    client.close();
    server.close();
    if (listener != null) {
      listener.close();
    }
  }
}
