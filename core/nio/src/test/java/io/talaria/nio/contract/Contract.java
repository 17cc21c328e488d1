// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A theme of the contract, run on every variant. A behaviour is one test method, with the same
 * assertions everywhere; what it opens through these methods is closed after it.
 */
@ParameterizedClass
@MethodSource("io.talaria.nio.contract.Variant#tested")
@Tag("contract")
@Timeout(60)
abstract class Contract {
  final Variant variant;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  Contract(Variant variant) {
    this.variant = variant;
  }

  @AfterEach
  void closeAll() throws Exception {
    Thread.interrupted();
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  final <T extends AutoCloseable> T opened(T closeable) {
    opened.push(closeable);
    return closeable;
  }

  /** Whether the client's channels and selectors are Talaria's. */
  final boolean talaria() {
    return variant.client() != Variant.JDK.client();
  }

  /** Two connected channels in blocking mode. */
  final Pair pair() throws IOException {
    return opened(variant.pair());
  }

  /** A channel that is not connected. */
  final SocketChannel client() throws IOException {
    return opened(variant.client().openSocketChannel());
  }

  /** A listener at a port of its own. */
  final ServerSocketChannel listener() throws IOException {
    return opened(Pair.listen(variant.server()));
  }

  /** A listener that is not bound. */
  final ServerSocketChannel unbound() throws IOException {
    return opened(variant.server().openServerSocketChannel());
  }

  /** A selector for a channel, of the same provider. */
  final Selector selectorFor(SelectableChannel channel) throws IOException {
    return opened(channel.provider().openSelector());
  }

  /** Registers a channel, which becomes non-blocking. */
  static SelectionKey register(SelectableChannel channel, Selector selector, int ops)
      throws IOException {
    channel.configureBlocking(false);
    return channel.register(selector, ops);
  }

  /** An address of this host at which nobody listens. */
  final SocketAddress nobody() throws IOException {
    try (ServerSocketChannel closed = Pair.listen(variant.server())) {
      return closed.getLocalAddress();
    }
  }

  /** An address where a connect gets no answer: a listener whose backlog is full. */
  final SocketAddress silent() throws Exception {
    ServerSocketChannel full = unbound();
    full.bind(new InetSocketAddress(Pair.LOOPBACK, 0), 1);
    int pending = 0;
    while (pending < 2) {
      SocketChannel one = client();
      one.configureBlocking(false);
      pending = one.connect(full.getLocalAddress()) ? 0 : pending + settled(one);
    }
    return full.getLocalAddress();
  }

  /** 1 if a connect still has no answer after a moment, else 0. */
  private static int settled(SocketChannel channel) throws IOException {
    try (Selector selector = channel.provider().openSelector()) {
      channel.register(selector, SelectionKey.OP_CONNECT);
      return selector.select(30) == 0 ? 1 : 0;
    }
  }

  static int port(SocketAddress address) {
    return ((InetSocketAddress) address).getPort();
  }
}
