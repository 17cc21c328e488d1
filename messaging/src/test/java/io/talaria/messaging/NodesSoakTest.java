// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.messaging.Messages.Answer;
import io.talaria.messaging.Messages.Bytes;
import io.talaria.messaging.Messages.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Nodes come, talk to one that stays, and go, again and again in one process: what that takes must
 * level off, and be given back. 1,000 a road; {@code ./talaria soak --messages} makes more.
 */
@Tag("alone")
@Tag("long")
@Timeout(value = 2, unit = TimeUnit.DAYS) // each call has a limit of its own
class NodesSoakTest {
  private static final long CONNECTS =
      Long.parseLong(System.getenv().getOrDefault("TALARIA_SOAK_NODES", "1000"));
  private static final long LIMIT_NS = 90_000_000_000L;
  private static final int STAYS = 1;
  private static final int IDS = 50;
  private static final int SAMPLES = 20;
  private static final int LARGE = 3 << 20;
  private static final int LARGE_EVERY = 16;
  private static final int ASKS = 10;
  private static final long MEGABYTE = 1 << 20;
  private static final long HEAP_GROWTH = 4 * MEGABYTE;

  /** Odd pages, and code that is compiled meanwhile. */
  private static final long RESIDENT_GROWTH = 64 * MEGABYTE;

  private static final int SPARE_DESCRIPTORS = 8;

  /** What this process has of the kernel and of its heap. */
  private record Usage(long descriptors, long mappings, long heapBytes, long residentBytes) {}

  @TempDir Path directory;
  private Ground.Nodes nodes;

  @AfterEach
  void close() {
    if (nodes != null) {
      nodes.close();
    }
  }

  private static NodeOptions knows(NodeOptions options) {
    return options
        .sendLimit(Duration.ofNanos(LIMIT_NS))
        .type(Answer.class)
        .receive(Bytes.class, (bytes, from) -> {})
        .answer(Pair.class, Dispatch.INLINE, (pair, call) -> call.answer(new Answer(pair.first())));
  }

  /** A node comes, talks, and goes. */
  private void visit(long number) throws Exception {
    int id = STAYS + 1 + (int) (number % IDS);
    try (Node guest = Node.start(knows(nodes.options(id)))) {
      Peer host = guest.peer(STAYS);
      for (int i = 0; i < ASKS; i++) {
        Pair question = new Pair(number + i, 0);
        assertThat(host.ask(question, Answer.class, LIMIT_NS).value()).isEqualTo(number + i);
      }
      int size = number % LARGE_EVERY == 0 ? LARGE : 1000;
      long ticket = host.send(new Bytes(new byte[size]));
      assertThat(host.awaitTaken(ticket, LIMIT_NS)).isTrue();
    }
  }

  private Usage usage() throws IOException {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    Runtime runtime = Runtime.getRuntime();
    String shared = directory.resolve("shm").toString();
    long descriptors;
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      descriptors = all.count();
    }
    return new Usage(
        descriptors,
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.contains(shared))
            .count(),
        runtime.totalMemory() - runtime.freeMemory(),
        residentBytes());
  }

  private static long residentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("/proc/self/status has no line VmRSS");
  }

  @ParameterizedTest
  @EnumSource(
      value = Ground.class,
      names = {"SHM", "STREAM"})
  void whatNodesTakeLevelsOff(Ground ground) throws Exception {
    nodes = new Ground.Nodes(ground, directory);
    Node stays = nodes.start(knows(nodes.options(STAYS)));
    List<Usage> samples = new ArrayList<>();
    long each = Math.max(1, CONNECTS / SAMPLES);
    System.out.println("soak of nodes: " + ground + ", " + CONNECTS + " come and go");
    for (long number = 0; number < CONNECTS; number++) {
      visit(number);
      if ((number + 1) % each == 0) {
        samples.add(usage());
        System.out.println(number + 1 + " " + samples.getLast());
      }
    }
    assertThat(growth(samples, Usage::heapBytes)).as("heap").isLessThan(HEAP_GROWTH);
    assertThat(growth(samples, Usage::residentBytes)).as("resident").isLessThan(RESIDENT_GROWTH);
    long few = samples.getFirst().descriptors() + SPARE_DESCRIPTORS;
    long deadline = System.nanoTime() + LIMIT_NS;
    Usage last = usage();
    while ((last.descriptors() > few || last.mappings() > 0 || stays.counters().connections() > 0)
        && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(100); // until the one that stays has buried the last one
      last = usage();
    }
    assertThat(last.descriptors()).as("descriptors").isLessThanOrEqualTo(few);
    assertThat(last.mappings()).as("mappings of shared memory").isZero();
    assertThat(stays.counters().connections()).as("connections").isZero();
    stays.close();
    for (String name : new String[] {"run", "shm"}) {
      try (Stream<Path> left = Files.list(directory.resolve(name))) {
        assertThat(left).as("left in %s", name).isEmpty();
      }
    }
  }

  /** From the second quarter of the run to the last. */
  private static long growth(List<Usage> samples, ToLongFunction<Usage> what) {
    int size = samples.size();
    return mean(samples.subList(size * 3 / 4, size), what)
        - mean(samples.subList(size / 4, Math.max(size / 4 + 1, size / 2)), what);
  }

  private static long mean(List<Usage> some, ToLongFunction<Usage> what) {
    return (long) some.stream().mapToLong(what).average().orElse(0);
  }
}
