// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.hosts.HostRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * Where clients of other hosts ask about a listener: a listening socket beside the listener's port.
 * Negotiation thread.
 */
final class Rendezvous extends Doorway {
  private static final int BACKLOG = 128;

  private final Announcement announcement;
  private final HostRules rules;

  Rendezvous(Announcement announcement, HostRules rules) {
    this.announcement = announcement;
    this.rules = rules;
  }

  /** From now on callers can connect; they are heard once {@link #listen} is called. */
  void open(SelectorProvider jdk, InetSocketAddress at, Selector selector) throws IOException {
    ServerSocketChannel opened = jdk.openServerSocketChannel();
    try {
      opened.bind(at, BACKLOG);
      hear(opened, selector);
    } catch (IOException e) {
      opened.close();
      throw e;
    }
  }

  @Override
  boolean covers(ConnectionKey connection) {
    return announcement.covers(connection) && rules.binds(connection.server());
  }

  @Override
  boolean closedFor(long nowNs, long sinceNs) {
    return announcement.closedFor(nowNs, sinceNs);
  }
}
