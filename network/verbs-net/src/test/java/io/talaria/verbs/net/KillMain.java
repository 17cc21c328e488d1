// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.Access;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Kills a JVM by signal 9 while messages and writes go both ways, once as the side that connects
 * and once as the one that listens: this one must know within 2 s, and nothing may be held
 * afterwards. On the first RDMA device; {@code cm} for RDMA CM.
 */
public final class KillMain {
  private static final long MAX_MS = 2000;
  private static final int MIN_MESSAGES = 500;
  private static final long LIMIT_NS = TimeUnit.MINUTES.toNanos(5);

  private KillMain() {}

  /** Ends with 0 if all is well. */
  public static void main(String[] args) throws Exception {
    boolean cm = args.length > 0 && args[args.length - 1].equals("cm");
    if (args.length > 0 && args[0].equals("victim")) {
      victim(args[1], cm);
      return;
    }
    warmUp(cm);
    Held before = Held.now();
    try (VerbsNode node = VerbsNode.open(options(cm))) {
      for (String role : new String[] {"listen", "connect", "listen", "connect"}) {
        kill(node, role, cm);
      }
    }
    before.awaitAgain();
    System.out.println("killed: all four known in time");
  }

  private static NetOptions options(boolean cm) {
    NetOptions.Builder options = Pair.options();
    return (cm ? options.rdmaCm().insecure() : options).build();
  }

  /** What a process holds from its first connection or child on is held before it counts. */
  private static void warmUp(boolean cm) throws Exception {
    int ignored = new ProcessBuilder("true").start().waitFor();
    try (VerbsNode near = VerbsNode.open(options(cm));
        VerbsNode far = VerbsNode.open(options(cm))) {
      InetSocketAddress there = far.listen(new InetSocketAddress(host(cm), 0), (c, m) -> {});
      Connection connection = near.connect(there, (c, m) -> {});
      Pair.send(connection, 1, 2);
      connection.close();
      CloseReason closed = connection.whenClosed().get(LIMIT_NS, TimeUnit.NANOSECONDS);
      System.out.println("warm, " + closed + "; with two nodes open " + Held.now());
    }
  }

  private static InetAddress host(boolean cm) {
    return cm ? Provider.address() : InetAddress.getLoopbackAddress();
  }

  /** Sends for ever, and counts what comes. */
  private static final class Flood implements ConnectionHandler {
    final AtomicLong received = new AtomicLong();
    final CompletableFuture<Connection> open = new CompletableFuture<>();

    @Override
    public void connected(Connection connection) {
      open.complete(connection);
    }

    @Override
    public void message(Connection connection, Message message) {
      received.incrementAndGet();
    }

    void run(VerbsNode node, Connection connection) {
      try (RegisteredMemory own = node.allocate(1 << 16, Access.REMOTE_READ)) {
        for (long i = 0; ; i++) {
          Slice slice = connection.awaitSlice(LIMIT_NS);
          slice.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, i);
          int result;
          while ((result = connection.send(slice, 4096)) == Connection.BACK_PRESSURED) {
            TwoSides.require(connection.awaitSpace(LIMIT_NS), "room or the end");
          }
          if (i % 16 == 0 && result == Connection.SENT) {
            int ignored = connection.sendLarge(own, 0, 1 << 16, i, (c, t, s) -> {});
          }
          if (result == Connection.CLOSED) {
            connection.whenClosed().get(LIMIT_NS, TimeUnit.NANOSECONDS);
            return;
          }
        }
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
  }

  private static void victim(String where, boolean cm) throws Exception {
    VerbsNode node = VerbsNode.open(options(cm));
    Flood flood = new Flood();
    if (where.equals("listen")) {
      InetSocketAddress bound = node.listen(new InetSocketAddress(host(cm), 0), flood);
      System.out.println("port " + bound.getPort());
    } else {
      int port = Integer.parseInt(where);
      Connection ignored = node.connect(new InetSocketAddress(host(cm), port), flood);
    }
    flood.run(node, flood.open.get());
  }

  private static void kill(VerbsNode node, String role, boolean cm) throws Exception {
    Flood flood = new Flood();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Dtalaria.verbs.variant=device");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(KillMain.class.getName());
    command.add("victim");
    if (role.equals("listen")) {
      command.add("listen");
    } else {
      command.add(
          Integer.toString(node.listen(new InetSocketAddress(host(cm), 0), flood).getPort()));
    }
    if (cm) {
      command.add("cm");
    }
    Process child =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      if (role.equals("listen")) {
        Connection ignored = node.connect(new InetSocketAddress(host(cm), port(child)), flood);
      }
      Connection connection = flood.open.get(LIMIT_NS, TimeUnit.NANOSECONDS);
      Thread sender = Thread.ofPlatform().daemon().start(() -> flood.run(node, connection));
      Pair.await("a transfer", () -> flood.received.get() >= MIN_MESSAGES);
      long killedNs = System.nanoTime();
      Process ignored = child.destroyForcibly();
      CloseReason reason = connection.whenClosed().get(LIMIT_NS, TimeUnit.NANOSECONDS);
      long ms = (System.nanoTime() - killedNs) / 1_000_000;
      System.out.println(
          "killed the one to "
              + role
              + " after "
              + flood.received.get()
              + " messages; known after "
              + ms
              + " ms: "
              + reason);
      TwoSides.require(ms <= MAX_MS, "to know it within " + MAX_MS + " ms, not " + ms);
      TwoSides.require(
          reason.kind() == CloseReason.Kind.PEER || reason.kind() == CloseReason.Kind.FAILED,
          "the peer's end as the reason");
      sender.join(LIMIT_NS / 1_000_000);
      TwoSides.require(!sender.isAlive(), "that the sender has ended");
      TwoSides.require(node.metrics().slicesOut() == 0, "all slices back: " + node.metrics());
      TwoSides.require(node.metrics().connections() == 0, "no connection: " + node.metrics());
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  private static int port(Process child) throws IOException {
    BufferedReader lines = child.inputReader(StandardCharsets.UTF_8);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("port ")) {
        return Integer.parseInt(line.substring(5));
      }
    }
    throw new IOException("the other JVM has ended before it listened");
  }
}
