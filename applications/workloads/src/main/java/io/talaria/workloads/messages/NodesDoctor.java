// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.talaria.cli.doctor.NodesInquiry;
import io.talaria.cli.harness.HarnessException;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeDirectory;
import io.talaria.messaging.NodeListener;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Transport;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Finds out which nodes are reached, and by which transport, for {@code talaria doctor --nodes}.
 */
public final class NodesDoctor implements NodesInquiry {
  /** A little more than a handshake may take. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(6);

  private static final long LOOK_MS = 5;
  private static final int MIN_LIMIT = 100;
  private static final int SPARE_IDS = 1000;

  /**
   * A message that is never sent: a node connects only to the nodes that a thread wants to send to.
   */
  record Nothing() {}

  /** Creates the inquiry; the command finds it. */
  public NodesDoctor() {}

  @Override
  public List<Reached> ask(Path nodes, String cluster, Path key)
      throws HarnessException, InterruptedException {
    try {
      NodeDirectory directory = NodeDirectory.file(nodes);
      Map<Integer, InetSocketAddress> all = new TreeMap<>();
      for (int id = 0; id <= NodeOptions.MAX_ID; id++) {
        InetSocketAddress address = directory.address(id);
        if (address != null) {
          all.put(id, address);
        }
      }
      if (all.isEmpty()) {
        throw new HarnessException(nodes + " names no node: a line ID HOST:PORT each");
      }
      try (Node node = Nodes.start(options(all, directory, cluster, key))) {
        return ask(node, all);
      }
    } catch (IOException | IllegalArgumentException e) {
      throw new HarnessException(e.getMessage(), e);
    }
  }

  private static NodeOptions options(
      Map<Integer, InetSocketAddress> all, NodeDirectory directory, String cluster, Path key) {
    // Others may ask at the same time.
    int own = NodeOptions.MAX_ID - (int) (ProcessHandle.current().pid() % SPARE_IDS);
    while (all.containsKey(own)) {
      own--;
    }
    NodeOptions options =
        NodeOptions.of(own)
            .cluster(cluster)
            .directory(directory)
            .transports(Transport.SHM, Transport.VERBS, Transport.UCX, Transport.TCP)
            .maxConnections(Math.max(MIN_LIMIT, Math.min(all.size() + 1, 10_000)))
            .lookup(MethodHandles.lookup())
            .type(Nothing.class);
    return key == null ? options : options.key(key);
  }

  private static List<Reached> ask(Node node, Map<Integer, InetSocketAddress> all)
      throws InterruptedException {
    Map<Integer, String> unreachable = new ConcurrentHashMap<>();
    node.listen(
        new NodeListener() {
          @Override
          public void unreachable(Peer peer, String reason) {
            unreachable.put(peer.id(), reason);
          }
        });
    for (int id : all.keySet()) {
      node.peer(id).trySend(new Nothing()); // there is no connection yet
    }
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < LIMIT_NS
        && all.keySet().stream()
            .anyMatch(id -> !node.peer(id).connected() && !unreachable.containsKey(id))) {
      Thread.sleep(LOOK_MS);
    }
    List<Reached> found = new ArrayList<>();
    all.forEach(
        (id, address) -> {
          Peer peer = node.peer(id);
          String transport = peer.transport();
          String reason = peer.reason();
          reason = transport == null ? unreachable.getOrDefault(id, reason) : reason;
          String where = address.getHostString() + ":" + address.getPort();
          found.add(new Reached(id, where, transport, reason));
        });
    return found;
  }
}
