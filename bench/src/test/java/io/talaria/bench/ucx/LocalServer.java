// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Pinning;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A server in this JVM. */
final class LocalServer implements AutoCloseable {
  static final String TOKEN = "open sesame";

  private final FollowServer server;

  LocalServer() throws IOException {
    server =
        FollowServer.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), TOKEN, Pinning.NONE);
    Thread thread = new Thread(server::serve, "test-server");
    thread.setDaemon(true);
    thread.start();
  }

  InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
  }

  /** Yields, because the test's machine may have no core left for the other side. */
  Client.Place place() {
    return new Client.Place(address(), TOKEN, "posix,self", true);
  }

  @Override
  public void close() {
    server.close();
  }
}
