// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.link.Directories;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;

/**
 * Knows where nodes can be reached by TCP. Nodes of the same user on this host are found without
 * one. Called by the registrar, which may wait for it a little.
 */
@FunctionalInterface
public interface NodeDirectory {
  /** The address of a node, or null if it is not known. */
  InetSocketAddress address(int node);

  /** Knows nobody: for nodes of this host alone. */
  static NodeDirectory thisHost() {
    return node -> null;
  }

  /** A list that does not change. */
  static NodeDirectory of(Map<Integer, InetSocketAddress> nodes) {
    return Map.copyOf(nodes)::get;
  }

  /**
   * A file with a line {@code ID HOST:PORT} for each node; {@code #} begins a comment. It is read
   * again when it has changed, looked at once a second at most; a file that cannot be read leaves
   * what was known.
   *
   * @throws IllegalArgumentException if it cannot be read now; the message names the line
   */
  static NodeDirectory file(Path file) {
    return Directories.file(file);
  }
}
