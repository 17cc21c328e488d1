// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.Messages.Pair;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * A node by TCP in a process that takes all its descriptors and gives them back when its input
 * ends: {@code ScarceNodeMain DIRECTORY ID}. Says its port, then how much it has logged meanwhile.
 */
final class ScarceNodeMain {
  private ScarceNodeMain() {}

  public static void main(String[] args) throws Exception {
    AtomicInteger logged = new AtomicInteger();
    Logger logger = Logger.getLogger("io.talaria.messaging");
    logger.addHandler(
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            logged.incrementAndGet();
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        });
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
      System.out.println("LOGGED " + logged);
      while (System.in.read() >= 0) {
        // Until the parent ends, or ends this.
      }
    }
  }

  /** They are files, too. */
  private static void loadClasses(Variant.Nodes nodes, int id) throws Exception {
    try (Node other = nodes.start(nodes.options(id + 1).type(Pair.class))) {
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
