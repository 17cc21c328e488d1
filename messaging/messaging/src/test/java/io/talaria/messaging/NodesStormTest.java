// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Nodes in processes of their own talk to each other while some are killed and started again, and
 * any is stopped and continued: each message is taken at most once, whole and in order; what is
 * missing was told as lost; nobody waits for much longer than its limit, and nothing is left. 20
 * seconds a transport; {@code ./talaria chaos --messages} runs it at length.
 */
@Tag("alone")
@Timeout(value = 2, unit = TimeUnit.DAYS) // each wait has a limit of its own
class NodesStormTest {
  private static final long SECONDS =
      Long.parseLong(System.getenv().getOrDefault("TALARIA_CHAOS_SECONDS", "20"));
  private static final int NODES = 4;
  private static final int LASTING = 1;

  /** How a line of a member begins that says what should not have happened. */
  private static final String WRONG = "WRONG ";

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final long CALM_MS = 3_000;

  /** What a JVM opens when it is first needed. */
  private static final int SPARE_DESCRIPTORS = 8;

  @TempDir Path directory;
  private final Member[] members = new Member[NODES + 1];
  private final List<ChildProcess> processes = new ArrayList<>();
  private Transport transport;
  private Random random;
  private Path file;
  private long kills;
  private long stops;

  private record Member(int id, ChildProcess process, int port) {}

  @AfterEach
  void endAll() {
    processes.forEach(ChildProcess::close);
  }

  private void start(int id) throws Exception {
    ChildProcess process =
        TestJvm.of(
                StormMain.class,
                256,
                transport.name(),
                directory,
                file,
                id,
                NODES,
                random.nextLong())
            .start();
    processes.add(process);
    String runs = await(process, "RUNS ");
    members[id] = new Member(id, process, Integer.parseInt(runs.substring("RUNS ".length())));
    tellWhere();
  }

  private List<String> wrong() {
    return processes.stream()
        .flatMap(each -> each.out().stream())
        .filter(line -> line.startsWith(WRONG))
        .toList();
  }

  private String await(ChildProcess process, String begin) throws Exception {
    String line = process.awaitLine("(?!" + WRONG + ").*", LIMIT).group();
    assertThat(line).as(this::errors).startsWith(begin);
    return line;
  }

  /** By TCP nodes are found by a file; a new process has another port. */
  private void tellWhere() throws IOException {
    StringBuilder text = new StringBuilder("# of the storm\n");
    for (Member each : members) {
      if (each != null && each.port > 0) {
        text.append(each.id).append(" 127.0.0.1:").append(each.port).append('\n');
      }
    }
    Path next = Files.writeString(directory.resolve("nodes.next"), text);
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Nobody ends but by the test. */
  private void assertAllLive(String plan) {
    for (int id = LASTING; id <= NODES; id++) {
      ChildProcess process = members[id].process;
      assertThat(process.isAlive()).as("%s, node %d: %s", plan, id, process).isTrue();
    }
  }

  private Member any(int first) {
    return members[first + random.nextInt(NODES - first + 1)];
  }

  private void kill(Member member) throws Exception {
    member.process.close();
    kills++;
    if (random.nextBoolean()) {
      TimeUnit.MILLISECONDS.sleep(random.nextInt(1_500));
    }
    start(member.id);
  }

  /** Stops one, and while it stands perhaps kills another. */
  private void stop() throws Exception {
    Member member = any(LASTING);
    member.process.signal("STOP");
    stops++;
    int other = LASTING + 1 + random.nextInt(NODES - LASTING);
    boolean kills = random.nextInt(4) == 0 && other != member.id;
    TimeUnit.MILLISECONDS.sleep(random.nextInt(random.nextInt(3) == 0 ? 6_000 : 1_000));
    if (kills) {
      kill(members[other]);
    }
    member.process.signal("CONT");
  }

  private long descriptors() throws IOException {
    Path folder = Path.of("/proc/" + members[LASTING].process.pid() + "/fd");
    try (Stream<Path> all = Files.list(folder)) {
      return all.count();
    }
  }

  private long mappings() throws IOException {
    String shared = directory.resolve("shm").toString();
    Path maps = Path.of("/proc/" + members[LASTING].process.pid() + "/maps");
    return Files.readAllLines(maps).stream().filter(line -> line.contains(shared)).count();
  }

  @ParameterizedTest
  @EnumSource(
      value = Variant.class,
      names = {"SHM", "TCP"})
  void whatIsNotDeliveredWasToldAsLost(Variant variant) throws Exception {
    storm(variant);
  }

  @Test
  @Tag("long")
  void theSameOnUcx() throws Exception {
    storm(Variant.UCX);
  }

  private void storm(Variant variant) throws Exception {
    variant.assumeBetweenProcesses();
    transport = variant.transport();
    String given = System.getenv("TALARIA_CHAOS_SEED");
    long seed = given == null ? System.nanoTime() & 0xffff_ffffL : Long.parseLong(given);
    random = new Random(seed);
    String plan = "storm of nodes: " + transport + ", " + SECONDS + " s, seed " + seed;
    System.out.println(plan);
    file = Files.writeString(directory.resolve("nodes"), "# nobody yet\n");
    start(LASTING);
    long descriptors = descriptors();
    for (int id = LASTING + 1; id <= NODES; id++) {
      start(id);
    }
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (System.nanoTime() < end && wrong().isEmpty()) {
      TimeUnit.MILLISECONDS.sleep(100 + random.nextInt(900));
      assertAllLive(plan);
      if (random.nextBoolean()) {
        kill(any(LASTING + 1));
      } else {
        stop();
      }
    }
    assertThat(wrong()).as(plan).isEmpty();
    TimeUnit.MILLISECONDS.sleep(CALM_MS); // the last messages are sent in peace
    judge(plan);
    for (int id = NODES; id > LASTING; id--) {
      end(members[id]);
    }
    awaitAtMost("descriptors", descriptors + SPARE_DESCRIPTORS, this::descriptors);
    awaitAtMost("mappings", 0, this::mappings);
    end(members[LASTING]);
    // Who was killed while nobody looked has left what the next node that starts here removes.
    Nodes.start(
            NodeOptions.of(NODES + 1)
                .cluster("storm")
                .runDirectory(directory.resolve("run"))
                .sharedMemoryDirectory(directory.resolve("shm")))
        .close();
    for (String each : new String[] {"run", "shm"}) {
      if (Files.exists(directory.resolve(each))) { // by TCP nobody makes the second
        try (Stream<Path> left = Files.list(directory.resolve(each))) {
          assertThat(left).as("left in %s", each).isEmpty();
        }
      }
    }
    assertThat(wrong()).as(plan).isEmpty();
    System.out.println(plan + ": all well");
  }

  /** All end their talk, and say what they have sent and seen. */
  private void judge(String plan) throws Exception {
    nextLine();
    for (int id = LASTING; id <= NODES; id++) {
      assertThat(await(members[id].process, "SENT")).isEqualTo("SENT");
    }
    nextLine(); // only now has each what the others have sent
    String[][] said = new String[NODES + 1][];
    long messages = 0;
    for (int id = LASTING; id <= NODES; id++) {
      // DONE, the process, then each node's: sent, incarnation, next, gaps, lost.
      said[id] = await(members[id].process, "DONE ").split(" ", -1);
    }
    long missing = 0;
    for (int from = LASTING; from <= NODES; from++) {
      for (int to = LASTING; to <= NODES; to++) {
        if (from == to) {
          continue;
        }
        Map<String, Long> there = parse(said[from][1 + to]);
        Map<String, Long> here = parse(said[to][1 + from]);
        String pair = plan + ", from " + from + " " + there + " to " + to + " " + here;
        assertThat(here.get("incarnation")).as(pair).isEqualTo(Long.parseLong(said[from][1]));
        assertThat(here.get("next")).as(pair).isEqualTo(there.get("sent"));
        assertThat(here.get("gaps"))
            .as(pair)
            .isLessThanOrEqualTo(here.get("lost") + there.get("lost"));
        messages += there.get("sent");
        missing += here.get("gaps");
      }
    }
    System.out.printf(
        "%s: %,d messages of those that lived to the end, %d gaps, all told; %d kills, %d stops%n",
        plan, messages, missing, kills, stops);
    assertThat(messages).isPositive();
  }

  private void nextLine() throws IOException {
    for (int id = LASTING; id <= NODES; id++) {
      members[id].process.send("");
    }
  }

  private static Map<String, Long> parse(String summary) {
    String[] words = summary.split(":", -1);
    return Map.of(
        "sent", Long.parseLong(words[0]),
        "incarnation", Long.parseLong(words[1]),
        "next", Long.parseLong(words[2]),
        "gaps", Long.parseLong(words[3]),
        "lost", Long.parseLong(words[4]));
  }

  private static void end(Member member) throws Exception {
    member.process.closeInput();
    member.process.awaitSuccess(LIMIT);
  }

  private interface Count {
    long get() throws IOException;
  }

  private static void awaitAtMost(String what, long limit, Count count) throws Exception {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (count.get() > limit && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(100);
    }
    assertThat(count.get()).as(what).isLessThanOrEqualTo(limit);
  }

  private String errors() {
    return processes.stream().map(ChildProcess::output).collect(Collectors.joining());
  }
}
