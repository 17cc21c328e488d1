// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Waits;
import io.talaria.messaging.connect.Conductor;
import io.talaria.messaging.node.LocalNode;
import java.io.IOException;

/** What tests of running nodes share. */
final class RunningNodes {
  private static final long REST_NS = 50_000_000;

  private RunningNodes() {}

  static LocalNode start(NodeOptions options) throws IOException {
    return LocalNode.start(options, Conductor::new);
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
