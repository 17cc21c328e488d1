// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;

/** Options of the nodes of a test, which find each other and nobody else. */
public final class TestOptions {
  private TestOptions() {}

  /**
   * Returns options of a node whose files are in the test's own directory.
   *
   * @param id of the node
   * @param transport the only one that it uses
   * @param directory of the test
   */
  public static NodeOptions of(int id, Transport transport, Path directory) {
    return NodeOptions.of(id)
        .cluster("test")
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"))
        .transports(transport);
  }

  /**
   * Returns the same for a node that listens if its transport is TCP.
   *
   * @param addresses of those that listen
   */
  public static NodeOptions of(
      int id, Transport transport, Path directory, Map<Integer, InetSocketAddress> addresses) {
    NodeOptions options = of(id, transport, directory).directory(addresses::get);
    return transport == Transport.TCP ? options.listen("127.0.0.1", 0) : options;
  }
}
