// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Semaphore;

/** Listens for control connections, and serves each by threads of its own. */
final class FollowServer implements AutoCloseable {
  /** Each may hold a worker of UCX, which takes megabytes. */
  private static final int MOST_SESSIONS = 64;

  private final ServerSocket listener;
  private final String token;
  private final int core;
  private final Semaphore places = new Semaphore(MOST_SESSIONS);

  private FollowServer(ServerSocket listener, String token, int core) {
    this.listener = listener;
    this.token = token;
    this.core = core;
  }

  /**
   * Listens.
   *
   * @param address where
   * @param token what clients must know
   * @param core the core that this process sits on, for {@code ucx_perftest}
   * @throws IOException if the address is taken or not this host's
   */
  static FollowServer open(InetSocketAddress address, String token, int core) throws IOException {
    ServerSocket listener = new ServerSocket();
    try {
      listener.bind(address);
      return new FollowServer(listener, token, core);
    } catch (IOException e) {
      listener.close();
      throw new ControlException(
          "cannot listen at "
              + address.getHostString()
              + ":"
              + address.getPort()
              + ": "
              + e.getMessage());
    }
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Serves until it is closed. */
  void serve() {
    while (true) {
      Socket socket;
      try {
        socket = listener.accept();
      } catch (IOException e) {
        return;
      }
      Thread thread = new Thread(() -> serve(socket), "talaria-bench-session");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void serve(Socket socket) {
    try (ControlLink link = ControlLink.accepted(socket)) {
      if (!places.tryAcquire()) {
        link.fail("the server serves " + MOST_SESSIONS + " connections, which is the most");
        return;
      }
      try {
        new Session(link, token, core).serve();
      } finally {
        places.release();
      }
    } catch (IOException e) {
      // The client has gone before it said a word.
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      // Nothing is left to be lost.
    }
  }
}
