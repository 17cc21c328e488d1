// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.handshake.Directories;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;

/**
 * Knows where nodes can be reached by TCP. Nodes of the same user on this host are found without a
 * directory. The conductor calls it at each attempt to connect. For nodes that come and go, use the
 * {@code get} of a {@link java.util.concurrent.ConcurrentHashMap} as directory. An address may be
 * unresolved: another thread then looks up the host.
 */
@FunctionalInterface
public interface NodeDirectory {
  /**
   * Returns the address of a node, or null if it is not known. Must not wait. If it throws, the
   * node counts as unreachable for that reason, and the conductor calls this method again later.
   */
  InetSocketAddress address(int node);

  /** A directory that knows no node: for nodes of this host only. */
  static NodeDirectory thisHost() {
    return node -> null;
  }

  /** A directory with a copy of this map. */
  static NodeDirectory of(Map<Integer, InetSocketAddress> nodes) {
    return Map.copyOf(nodes)::get;
  }

  /**
   * A directory for nodes whose host names follow one pattern, as those of a StatefulSet behind a
   * headless service of Kubernetes, <code>store-{id}.stores.default.svc.cluster.local</code>. Names
   * are looked up at each attempt to connect, unless the JVM has cached them (security property
   * {@code networkaddress.cache.ttl}).
   *
   * @param pattern a host name, in which <code>{id}</code> stands for the node's id
   * @param port of all nodes, 1 to 65,535
   * @throws IllegalArgumentException if the pattern has no <code>{id}</code>, or the port is out of
   *     range
   */
  static NodeDirectory names(String pattern, int port) {
    return Directories.names(pattern, port)::apply;
  }

  /**
   * A directory in a file with a line {@code ID HOST:PORT} for each node; {@code #} begins a
   * comment. The file is checked for changes at most once a second, and read again when it has
   * changed. If it then cannot be read, the directory keeps what it knows.
   *
   * @throws IllegalArgumentException if the file cannot be read now, if a line does not have that
   *     form, or if a node has two lines; the message names the lines
   */
  static NodeDirectory file(Path file) {
    return Directories.file(file, NodeOptions.MAX_ID)::apply;
  }
}
