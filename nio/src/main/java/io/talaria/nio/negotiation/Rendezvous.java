// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.config.HostRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * Where clients of other hosts ask about a listener: a listening socket beside the listener's port.
 * Negotiation thread.
 */
final class Rendezvous implements Doorway {
  private static final int BACKLOG = 128;

  private final Announcement announcement;
  private final HostRules rules;
  private ServerSocketChannel channel;
  private SelectionKey key;

  Rendezvous(Announcement announcement, HostRules rules) {
    this.announcement = announcement;
    this.rules = rules;
  }

  /** From now on callers can connect; they are heard once {@link #listen} is called. */
  void open(SelectorProvider jdk, InetSocketAddress at, Selector selector) throws IOException {
    ServerSocketChannel opened = jdk.openServerSocketChannel();
    try {
      opened.configureBlocking(false);
      opened.bind(at, BACKLOG);
      key = opened.register(selector, 0, this);
      channel = opened;
    } catch (IOException e) {
      opened.close();
      throw e;
    }
  }

  void listen() {
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  /** Hears nobody until {@link #listen} is called again. */
  void pause() {
    if (key.isValid()) {
      key.interestOps(0);
    }
  }

  /** The next caller, or null. */
  SocketChannel accept() throws IOException {
    return channel.isOpen() ? channel.accept() : null;
  }

  @Override
  public boolean covers(ConnectionKey connection) {
    return announcement.covers(connection) && rules.binds(connection.server());
  }

  @Override
  public boolean closedFor(long nowNs, long sinceNs) {
    return announcement.closedFor(nowNs, sinceNs);
  }

  void close() {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // It is closed as far as it can be.
    }
  }
}
