// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.handshake.Directories;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;

/**
 * Knows where nodes can be reached by TCP. Nodes of the same user on this host are found without
 * one. Called by the conductor, which must not wait for it, at each attempt to connect: nodes that
 * come and go can be kept in a {@link java.util.concurrent.ConcurrentHashMap}, whose {@code get} is
 * a directory. A host that is not resolved yet is looked up by another thread.
 */
@FunctionalInterface
public interface NodeDirectory {
  /**
   * The address of a node, or null if it is not known. It must not wait. If it throws, the node is
   * unreachable for now, with that reason, and this is asked again.
   */
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
   * Nodes whose hosts have names of one pattern, as those of a StatefulSet behind a headless
   * service of Kubernetes, <code>store-{id}.stores.default.svc.cluster.local</code>. Names are
   * looked up at each attempt to connect, as far as the JVM does not keep them (security property
   * {@code networkaddress.cache.ttl}).
   *
   * @param pattern a host's name, in which <code>{id}</code> stands for the node's number
   * @param port of all nodes
   * @throws IllegalArgumentException if the pattern has no <code>{id}</code>, or there is no such
   *     port
   */
  static NodeDirectory names(String pattern, int port) {
    return Directories.names(pattern, port)::apply;
  }

  /**
   * A file with a line {@code ID HOST:PORT} for each node; {@code #} begins a comment. It is read
   * again when it has changed, looked at once a second at most; a file that cannot be read leaves
   * what was known.
   *
   * @throws IllegalArgumentException if it cannot be read now, if a line is not of that form, or if
   *     a node has two lines; the message names them
   */
  static NodeDirectory file(Path file) {
    return Directories.file(file, NodeOptions.MAX_ID)::apply;
  }
}
