// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.config.ProcessFileName;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/**
 * A listener's announcement: a listening Unix-domain socket named {@code l-PORT-ID} in the private
 * directory. It appears under its name only once it listens, so a name that refuses belongs to
 * nobody and may be removed by anyone. Negotiation thread, except {@link #removeFile}.
 */
public final class Announcement implements Doorway {
  static final String PREFIX = "l-";
  private static final char TEMPORARY = 't';
  private static final int BACKLOG = 1024;

  private final InetSocketAddress listener;
  private volatile Path path;
  private volatile boolean retired;
  private ServerSocketChannel channel;
  private SelectionKey key;
  private boolean closed;
  private long closedAtNs;

  Announcement(InetSocketAddress listener) {
    this.listener = listener;
  }

  static String namePrefix(int port) {
    return PREFIX + port + "-";
  }

  /** Whether the listener is closed, or about to be. Any thread. */
  boolean retired() {
    return retired;
  }

  @Override
  public boolean covers(ConnectionKey connection) {
    return connection.server().getPort() == listener.getPort()
        && (listener.getAddress().isAnyLocalAddress()
            || Arrays.equals(
                listener.getAddress().getAddress(), connection.server().getAddress().getAddress()));
  }

  /** Who dials it is heard once {@link #listen} is called. */
  void open(SelectorProvider jdk, Path directory, Selector selector) throws IOException {
    if (closed) {
      return;
    }
    long id = ProcessFileName.nextId();
    Path temporary = directory.resolve(ProcessFileName.of(TEMPORARY, id));
    Path named = directory.resolve(namePrefix(listener.getPort()) + ProcessFileName.digits(id));
    channel = jdk.openServerSocketChannel(StandardProtocolFamily.UNIX);
    try {
      channel.configureBlocking(false);
      channel.bind(UnixDomainSocketAddress.of(temporary), BACKLOG);
      key = channel.register(selector, 0, this);
      Files.move(temporary, named, StandardCopyOption.ATOMIC_MOVE);
      path = named;
      if (retired) {
        removeFile();
      }
    } catch (IOException e) {
      channel.close();
      Files.deleteIfExists(temporary);
      throw e;
    }
  }

  void listen() {
    if (key != null && key.isValid()) {
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  /** Hears nobody until {@link #listen} is called again. */
  void pause() {
    if (key.isValid()) {
      key.interestOps(0);
    }
  }

  SocketChannel accept() throws IOException {
    return key.isValid() ? channel.accept() : null;
  }

  void close() {
    closed = true;
    closedAtNs = System.nanoTime();
    removeFile();
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // Its name is gone, which is what counts.
      }
    }
  }

  @Override
  public boolean closedFor(long nowNs, long sinceNs) {
    return closed && nowNs - closedAtNs >= sinceNs;
  }

  void removeFile() {
    retired = true;
    Path named = path;
    path = null;
    if (named != null) {
      try {
        Files.deleteIfExists(named);
      } catch (IOException e) {
        // It refuses from now on; a client removes it.
      }
    }
  }
}
