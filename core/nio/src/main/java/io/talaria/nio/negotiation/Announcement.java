// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;

/**
 * A listener's announcement: a listening Unix-domain socket named {@code l-PORT-ID} in the private
 * directory. It appears under its name only once it listens, so a name that refuses belongs to no
 * process and any process may remove it. Negotiation thread, except {@link #removeFile}.
 */
public final class Announcement extends Acceptor {
  static final char PREFIX = 'l';
  static final char TEMPORARY = 't';
  private static final int BACKLOG = 1024;

  private final Announcer announcer;
  private final InetSocketAddress listener;
  private volatile Path path;
  private volatile boolean retired;
  private boolean closed;
  private long closedAtNs;

  Announcement(Announcer announcer, InetSocketAddress listener) {
    this.announcer = announcer;
    this.listener = listener;
  }

  static String namePrefix(int port) {
    return PREFIX + "-" + port + "-";
  }

  /** Whether the listener is closed, or about to be. Any thread. */
  public boolean retired() {
    return retired;
  }

  @Override
  public boolean covers(ConnectionKey connection) {
    return connection.server().getPort() == listener.getPort()
        && (listener.getAddress().isAnyLocalAddress()
            || Arrays.equals(
                listener.getAddress().getAddress(), connection.server().getAddress().getAddress()));
  }

  /** A process that dials it is accepted once {@link #listen} is called. */
  void open(NegotiationLoop loop, Path directory) throws IOException {
    if (closed) {
      return;
    }
    long id = ProcessFileName.nextId();
    Path temporary = directory.resolve(ProcessFileName.of(TEMPORARY, id));
    Path named = directory.resolve(namePrefix(listener.getPort()) + ProcessFileName.digits(id));
    ServerSocketChannel channel = loop.jdk().openServerSocketChannel(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(temporary), BACKLOG);
      register(channel, loop);
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

  @Override
  public void ready() {
    announcer.accept(this);
  }

  @Override
  public void failed() {
    pause(announcer.loop());
  }

  @Override
  public void close() {
    closed = true;
    closedAtNs = System.nanoTime();
    removeFile();
    super.close();
  }

  @Override
  public boolean closedFor(long nowNs, long sinceNs) {
    return closed && nowNs - closedAtNs >= sinceNs;
  }

  void removeFile() {
    retired = true;
    Path named = path;
    if (named != null) {
      try {
        Privileged.call(() -> Files.deleteIfExists(named));
      } catch (IOException e) {
        // It refuses from now on; a client removes it.
      }
      path = null; // not before: an exit meanwhile removes it again
    }
  }
}
