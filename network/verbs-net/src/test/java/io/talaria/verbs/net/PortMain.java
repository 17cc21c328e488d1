// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes the port of the first RDMA device down and up under a connection, by the network interface
 * that is named; as root, in a machine where that harms nobody. What was under way is either
 * delivered or the connection is closed, and afterwards connections are as before.
 */
public final class PortMain {
  private static final long LIMIT_NS = TimeUnit.MINUTES.toNanos(2);

  private PortMain() {}

  /** Ends with 0 if all is well. */
  public static void main(String[] args) throws Exception {
    AtomicLong seen = new AtomicLong();
    AtomicLong sent = new AtomicLong();
    try (Pair pair = new Pair(Pair.options(), (c, m) -> seen.incrementAndGet())) {
      Connection connection = pair.connect((c, m) -> {});
      for (int i = 0; i < 100; i++) {
        Pair.send(connection, i, sent.incrementAndGet());
      }
      Pair.await("all messages", () -> seen.get() == sent.get());
      try {
        state(args[0], "down");
        await("DOWN");
        System.out.println("the port is down; what is sent now:");
        boolean open = trySending(connection, seen, sent);
        System.out.println(
            open
                ? "is delivered: this device reaches itself without its port"
                : "is not: " + connection.whenClosed().get(LIMIT_NS, TimeUnit.NANOSECONDS));
      } finally {
        state(args[0], "up");
      }
      await("ACTIVE");
      seen.set(0);
      sent.set(0);
      Connection again = pair.connect((c, m) -> {});
      for (int i = 0; i < 100; i++) {
        Pair.send(again, i, sent.incrementAndGet());
      }
      Pair.await("all messages", () -> seen.get() >= sent.get());
      TwoSides.require(again.isOpen(), "an open connection");
    }
    System.out.println("the port is up, and connections are as before");
  }

  /** Whether the connection lives and delivers. */
  private static boolean trySending(Connection connection, AtomicLong seen, AtomicLong sent)
      throws InterruptedException {
    for (int i = 0; i < 10; i++) {
      Slice slice = connection.awaitSlice(LIMIT_NS);
      if (connection.send(slice, 16) != Connection.SENT) {
        return false;
      }
      sent.incrementAndGet();
    }
    Pair.await("their arrival, or the end", () -> seen.get() == sent.get() || !connection.isOpen());
    return connection.isOpen();
  }

  private static void state(String device, String state) throws IOException, InterruptedException {
    Process ip = new ProcessBuilder("ip", "link", "set", device, state).inheritIO().start();
    TwoSides.require(ip.waitFor() == 0, "that ip sets the link " + state);
  }

  private static void await(String state) throws IOException {
    Path file;
    try (java.util.stream.Stream<Path> devices = Files.list(Path.of("/sys/class/infiniband"))) {
      file = devices.sorted().findFirst().orElseThrow().resolve("ports/1/state");
    }
    Pair.await(
        "the port " + state,
        () -> {
          try {
            return Files.readString(file).contains(state);
          } catch (IOException e) {
            return false;
          }
        });
  }
}
