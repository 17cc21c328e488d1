// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.Waits;
import io.talaria.messaging.connect.Conductor;
import io.talaria.messaging.node.LocalNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;

/** What tests of running nodes share. */
final class RunningNodes {
  private static final long REST_NS = 50_000_000;

  private RunningNodes() {}

  static LocalNode start(NodeOptions options) throws IOException {
    return LocalNode.start(options, Conductor::new);
  }

  /**
   * Options of a node that finds the others of its test, by the transport alone.
   *
   * @param addresses of those that listen by TCP
   */
  static NodeOptions options(
      int id, Transport transport, Path directory, Map<Integer, InetSocketAddress> addresses) {
    WakeUps.assume(transport);
    return TestOptions.of(id, transport, directory, addresses).sendTimeout(Waits.LIMIT);
  }

  /** Starts a node with such options, and notes its address. */
  static LocalNode start(NodeOptions options, Map<Integer, InetSocketAddress> addresses)
      throws IOException {
    LocalNode node = start(options);
    if (node.port() > 0) {
      addresses.put(
          node.id(), new InetSocketAddress(InetAddress.getLoopbackAddress(), node.port()));
    }
    return node;
  }

  /** The same; without periodic checks that would hide a lost wake-up, if told so. */
  static LocalNode start(NodeOptions options, boolean looksAfterPeers) throws IOException {
    return LocalNode.start(options, Conductor::new, looksAfterPeers);
  }

  /** Whether the poller sleeps, and does not wake up again and again. */
  static boolean rests(LocalNode node) {
    int sleep = node.poller().sleepNumber();
    if (!Poller.sleeps(sleep)) {
      return false;
    }
    long end = System.nanoTime() + REST_NS;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    return node.poller().sleepNumber() == sleep;
  }

  /** Closes those that were started. */
  static void close(LocalNode... nodes) {
    for (LocalNode each : nodes) {
      if (each != null) {
        each.close(Waits.LIMIT);
      }
    }
  }
}
