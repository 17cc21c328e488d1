// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.negotiation.Acceptor;
import io.talaria.nio.negotiation.Announcement;
import io.talaria.nio.negotiation.ConnectionKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/**
 * Where clients of other hosts ask about a listener: a listening socket beside the listener's port.
 * Negotiation thread.
 */
final class Rendezvous extends Acceptor {
  private static final int BACKLOG = 128;

  private final HostNegotiation hosts;
  private final Announcement announcement;
  private final HostRules rules;

  Rendezvous(HostNegotiation hosts, Announcement announcement, HostRules rules) {
    this.hosts = hosts;
    this.announcement = announcement;
    this.rules = rules;
  }

  /** From now on callers can connect; they are accepted once {@link #listen} is called. */
  void open(InetSocketAddress at) throws IOException {
    ServerSocketChannel opened = hosts.loop().jdk().openServerSocketChannel();
    try {
      opened.bind(at, BACKLOG);
      register(opened, hosts.loop());
    } catch (IOException e) {
      opened.close();
      throw e;
    }
  }

  @Override
  public void ready() {
    hosts.accept(this);
  }

  @Override
  public void failed() {
    pause(hosts.loop());
  }

  @Override
  public boolean covers(ConnectionKey connection) {
    return announcement.covers(connection) && rules.binds(connection.server());
  }

  @Override
  public boolean closedFor(long nowNs, long sinceNs) {
    return announcement.closedFor(nowNs, sinceNs);
  }
}
