// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import io.talaria.messaging.Messages.Response;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The process of {@link NodesSoakTest}: a node that stays, and others that come, talk to it and go,
 * one after the other. Says {@code CAME COUNT} now and then, {@code USES} and what it has at each
 * twentieth of the way, and {@code LEFT} and what it has when all but the first are gone. Whatever
 * is not as it should be ends it.
 */
public final class SoakMain {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final int STAYS = 1;
  private static final int IDS = 50;
  private static final int SAMPLES = 20;
  private static final int TOLD_EVERY = 10;
  private static final int SMALL = 1000;
  private static final int LARGE = 3 << 20;
  private static final int LARGE_EVERY = 16;
  private static final int REQUESTS = 10;
  private static final int COLLECTIONS = 6;

  private SoakMain() {}

  private static NodeOptions knows(NodeOptions options) {
    return options
        .lookup(MethodHandles.lookup())
        .sendTimeout(LIMIT)
        .type(Response.class)
        .receive(Bytes.class, (bytes, from) -> {})
        .handle(
            Pair.class,
            Dispatch.INLINE,
            (pair, request) -> request.respond(new Response(pair.first())));
  }

  /**
   * Runs to its end.
   *
   * @param args variant, directory, how many nodes come
   */
  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[1]);
    long count = Long.parseLong(args[2]);
    long each = count / SAMPLES;
    try (Variant.Nodes nodes = new Variant.Nodes(Variant.valueOf(args[0]), directory)) {
      Node stays = nodes.start(knows(nodes.options(STAYS)));
      for (long number = 0; number < count; number++) {
        visit(nodes, number);
        if ((number + 1) % each == 0) {
          say("USES " + usage(stays, directory));
        }
        if ((number + 1) % TOLD_EVERY == 0) {
          say("CAME " + (number + 1));
        }
      }
      long deadline = System.nanoTime() + LIMIT.toNanos();
      while ((stays.counters().connections() > 0 || mappings(directory) > 0)
          && System.nanoTime() - deadline < 0) {
        TimeUnit.MILLISECONDS.sleep(20); // until the one that stays has unmapped the last one
      }
      say("LEFT " + usage(stays, directory));
    }
  }

  private static void say(String text) {
    System.out.println(text);
    System.out.flush();
  }

  /** A node comes, talks, and goes. */
  private static void visit(Variant.Nodes nodes, long number) throws Exception {
    int id = STAYS + 1 + (int) (number % IDS);
    try (Node guest = Nodes.start(knows(nodes.options(id)))) {
      Peer host = guest.peer(STAYS);
      for (int i = 0; i < REQUESTS; i++) {
        long response = host.request(new Pair(number + i, 0), Response.class, LIMIT).value();
        check(response == number + i, "response " + response + " to " + (number + i));
      }
      int size = number % LARGE_EVERY == 0 ? LARGE : SMALL;
      long position = host.send(new Bytes(new byte[size]));
      check(
          host.awaitDelivered(position, LIMIT),
          size + " bytes of visitor " + number + " not taken");
    }
  }

  private static void check(boolean right, String wrong) {
    if (!right) {
      throw new IllegalStateException(wrong);
    }
  }

  /** Connections, descriptors, mappings of shared memory, bytes of live objects, resident bytes. */
  private static String usage(Node stays, Path directory) throws Exception {
    Runtime runtime = Runtime.getRuntime();
    long liveBytes = Long.MAX_VALUE;
    long residentBytes = Long.MAX_VALUE;
    // What collections find is freed by other threads, a little later.
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(50);
      liveBytes = Math.min(liveBytes, runtime.totalMemory() - runtime.freeMemory());
      residentBytes = Math.min(residentBytes, residentBytes());
    }
    long descriptors;
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      descriptors = all.count();
    }
    return stays.counters().connections()
        + " "
        + descriptors
        + " "
        + mappings(directory)
        + " "
        + liveBytes
        + " "
        + residentBytes;
  }

  private static long mappings(Path directory) throws IOException {
    String shared = directory.resolve("shm").toString();
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(shared)).count();
    }
  }

  private static long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("/proc/self/status has no line VmRSS");
  }
}
