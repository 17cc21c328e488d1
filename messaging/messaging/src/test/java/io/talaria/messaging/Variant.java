// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.talaria.ucx.Ucx;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the contract runs on: two nodes in one process and a transport between them, or one node.
 */
enum Variant {
  LOOP,
  SHM,
  TCP,
  UCX,
  VERBS;

  /** Which of them run, by their names with commas; empty: all. */
  private static final String WANTED = System.getProperty("talaria.messaging.variants", "");

  /** What its nodes use. */
  Transport transport() {
    return this == LOOP ? Transport.SHM : Transport.valueOf(name());
  }

  /** Skips the test if this one is not wanted, or cannot be used here. */
  void assume() {
    assumeThat(WANTED.isEmpty() || List.of(WANTED.split(",")).contains(name())).isTrue();
    if (this == UCX) {
      assumeThat(Ucx.unavailableReason()).isEmpty();
    } else if (this == VERBS) {
      assumeThat(TestVerbs.prepare()).isEmpty();
    }
  }

  /** The same for a test of two processes: the provider in memory reaches no other one. */
  void assumeBetweenProcesses() {
    assume();
    assumeThat(this == VERBS && !TestVerbs.isDevice()).isFalse();
  }

  /** Nodes of a test, closed after it. */
  static final class Nodes implements AutoCloseable {
    final Variant variant;
    final Path directory;
    final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
    private final List<Node> nodes = new ArrayList<>();

    Nodes(Variant variant, Path directory) {
      variant.assume();
      this.variant = variant;
      this.directory = directory;
    }

    /** Options of a node of this variant. */
    NodeOptions options(int id) {
      return TestOptions.of(id, variant.transport(), directory, addresses);
    }

    /** Starts a node. */
    Node start(NodeOptions options) throws Exception {
      Node node = io.talaria.messaging.Nodes.start(options);
      nodes.add(node);
      if (node.port() > 0) {
        addresses.put(
            node.id(), new InetSocketAddress(InetAddress.getLoopbackAddress(), node.port()));
      }
      return node;
    }

    @Override
    public void close() {
      nodes.forEach(Node::close);
    }
  }
}
