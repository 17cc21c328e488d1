// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.handshake.Announcement;
import io.talaria.nio.process.PeerCredentials;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Where other nodes find this one: a Unix-domain socket that is announced in the run-time
 * directory, and a TCP port, each if the options ask for it.
 */
final class Listeners {
  private final NodeSecurity security;

  /** Or null. */
  private final Announcement announcement;

  /** Or null. */
  private final ServerSocketChannel tcp;

  /**
   * Opens them.
   *
   * @param announced whether to announce it to nodes on this host
   * @throws IOException that names the address which cannot be listened on
   */
  Listeners(
      NodeOptions options,
      NodeSecurity security,
      long cluster,
      boolean announced,
      Selector selector)
      throws IOException {
    this.security = security;
    tcp = options.listen() == null ? null : listen(options.listen(), selector);
    announcement =
        announced ? new Announcement(RunDirectories.run(options), cluster, options.id()) : null;
    try {
      if (announcement != null) {
        announcement.open();
        announcement.channel().register(selector, SelectionKey.OP_ACCEPT);
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private static ServerSocketChannel listen(InetSocketAddress address, Selector selector)
      throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open();
    try {
      channel.configureBlocking(false);
      channel.bind(address, Announcement.BACKLOG);
      channel.register(selector, SelectionKey.OP_ACCEPT);
      return channel;
    } catch (IOException e) {
      channel.close();
      throw new IOException("cannot listen on " + address + ": " + e.getMessage(), e);
    }
  }

  /** Whether nodes on this host find it. */
  boolean announced() {
    return announcement != null;
  }

  /** A channel to a node on this host, or null if it is not announced. */
  SocketChannel dialLocal(int id) throws IOException {
    return announcement == null ? null : announcement.dial(id);
  }

  /** Whether what this listener accepts is of this host. */
  boolean local(ServerSocketChannel listener) {
    return announcement != null && listener == announcement.channel();
  }

  /** Prepares a channel that was accepted; false if its peer must not talk to this node. */
  boolean admit(SocketChannel channel, boolean local) throws IOException {
    channel.configureBlocking(false);
    if (local) {
      return PeerCredentials.sameUser(channel, announcement.directory());
    }
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return security.allows((InetSocketAddress) channel.getRemoteAddress());
  }

  /** The TCP port, or −1. Any thread. */
  int port() {
    try {
      return tcp == null ? -1 : ((InetSocketAddress) tcp.getLocalAddress()).getPort();
    } catch (IOException e) {
      return -1;
    }
  }

  /** Closes both. Any thread. */
  void close() {
    if (announcement != null) {
      announcement.close();
    }
    try {
      if (tcp != null) {
        tcp.close();
      }
    } catch (IOException e) {
      // The descriptor is released all the same.
    }
  }
}
