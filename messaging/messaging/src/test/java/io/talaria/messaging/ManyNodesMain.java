// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.Messages.Pair;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process with some of many nodes: starts them, and at each line {@code send} of its input has
 * each of them send a message to all others. At any other line it tells how many connections there
 * are.
 */
public final class ManyNodesMain {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private ManyNodesMain() {}

  /**
   * Runs until its input ends.
   *
   * @param args variant, directory, the first id, how many nodes here, how many in all
   */
  public static void main(String[] args) throws Exception {
    int first = Integer.parseInt(args[2]);
    int count = Integer.parseInt(args[3]);
    int all = Integer.parseInt(args[4]);
    AtomicInteger got = new AtomicInteger();
    try (Variant.Nodes nodes = new Variant.Nodes(Variant.valueOf(args[0]), Path.of(args[1]));
        ExecutorService threads = Executors.newFixedThreadPool(count)) {
      List<Node> here = new ArrayList<>();
      for (int id = first; id < first + count; id++) {
        here.add(
            nodes.start(
                nodes
                    .options(id)
                    .dataRingBytes(16 << 10)
                    .controlRingBytes(16 << 10)
                    .sendTimeout(LIMIT)
                    .receive(Pair.class, Dispatch.INLINE, (pair, from) -> got.incrementAndGet())));
      }
      for (Node node : here) {
        node.listen(
            new NodeListener() {
              @Override
              public void lost(Peer peer, String reason, long unacknowledgedBytes) {
                System.err.println(
                    node.id()
                        + " lost "
                        + peer.id()
                        + ", "
                        + unacknowledgedBytes
                        + " bytes: "
                        + reason);
              }
            });
      }
      System.out.println("READY");
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (!line.equals("send")) {
          System.out.println("HAS " + counters(here));
          continue;
        }
        List<Callable<Void>> work = new ArrayList<>();
        for (Node node : here) {
          work.add(() -> sendToAll(node, all));
        }
        for (Future<Void> each : threads.invokeAll(work)) {
          each.get();
        }
        System.out.println("SENT");
      }
    }
  }

  private static Void sendToAll(Node node, int all) throws Exception {
    for (int id = 0; id < all; id++) {
      if (id != node.id() && node.peer(id).trySend(new Pair(node.id(), 0)) == Peer.CLOSED) {
        throw new AssertionError("closed");
      }
    }
    for (int id = 0; id < all; id++) {
      if (id != node.id()) {
        deliver(node, id);
      }
    }
    return null;
  }

  /**
   * Sends a message until it is delivered. A node that was welcomed after the other side had given
   * the handshake up has made a connection and loses it, which it is told.
   */
  private static void deliver(Node node, int id) throws MessagingException {
    Peer peer = node.peer(id);
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      try {
        if (!peer.awaitDelivered(peer.send(new Pair(node.id(), 1)), LIMIT)) {
          throw new AssertionError("node " + id + " has not taken it");
        }
        return;
      } catch (MessagingException e) {
        if (e.code() != MessagingException.Code.LOST || System.nanoTime() - deadline > 0) {
          throw e;
        }
      }
    }
  }

  /** Connections of all nodes now; and ever made, but for those that were lost and told so. */
  private static String counters(List<Node> nodes) {
    long now = 0;
    long made = 0;
    long lost = 0;
    for (Node node : nodes) {
      NodeCounters counters = node.counters();
      now += counters.connections();
      made += counters.connected();
      lost += counters.lost();
    }
    if (lost != 0) {
      System.err.println(made + " connections were made, " + lost + " lost");
    }
    return now + " " + (made - lost);
  }
}
