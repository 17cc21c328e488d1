// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.connect.Conductor;
import io.talaria.messaging.node.LocalNode;
import java.io.IOException;

/** Starts nodes in this process. Any thread. */
public final class Nodes {
  private Nodes() {}

  /**
   * Starts a node: its threads, its listeners, and its announcement to other nodes of this host.
   *
   * @return the node, which the caller closes
   * @throws IOException if it cannot listen, or cannot use the key or a directory; then nothing is
   *     left running
   * @throws IllegalArgumentException if options contradict each other
   */
  public static Node start(NodeOptions options) throws IOException {
    return LocalNode.start(options, Conductor::new);
  }
}
