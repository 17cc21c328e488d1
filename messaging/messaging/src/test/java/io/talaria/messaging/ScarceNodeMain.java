// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.Messages.Pair;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A node by TCP in a process that takes all its descriptors, says its port, and gives them back
 * after a line of input: {@code ScarceNodeMain DIRECTORY ID}.
 */
final class ScarceNodeMain {
  private ScarceNodeMain() {}

  public static void main(String[] args) throws Exception {
    Variant.Nodes nodes = new Variant.Nodes(Variant.TCP, Path.of(args[0]));
    int id = Integer.parseInt(args[1]);
    try (Node node =
        nodes.start(
            nodes
                .options(id)
                .receive(Pair.class, (pair, from) -> System.out.println("GOT " + pair.first())))) {
      loadClasses(nodes, id);
      List<FileInputStream> taken = takeAll();
      System.out.println("PORT " + node.port());
      while (System.in.read() != '\n') {
        // Until the parent has looked.
      }
      for (FileInputStream each : taken) {
        each.close();
      }
      System.out.println("FREE");
      while (System.in.read() >= 0) {
        // Until the parent ends, or ends this.
      }
    }
  }

  /** They are files, too, as is what the logger wants. */
  private static void loadClasses(Variant.Nodes nodes, int id) throws Exception {
    System.getLogger("io.talaria.messaging")
        .log(System.Logger.Level.WARNING, "the first line", new IOException("for the test"));
    try (Node other =
        nodes.start(nodes.options(id + 1).sendTimeout(Duration.ofMinutes(1)).type(Pair.class))) {
      Peer peer = other.peer(id);
      boolean ignored = peer.awaitDelivered(peer.send(new Pair(0, 0)), Duration.ofSeconds(20));
    }
  }

  private static List<FileInputStream> takeAll() {
    List<FileInputStream> taken = new ArrayList<>();
    try {
      while (true) {
        taken.add(new FileInputStream("/dev/null"));
      }
    } catch (IOException e) {
      return taken; // No descriptor is free.
    }
  }
}
