// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hundred nodes in four processes, each connected to each. */
@Tag("long")
@Timeout(600)
class ManyNodesTest {
  private static final int PROCESSES = 4;
  private static final int EACH = Integer.getInteger("talaria.test.nodes", 100) / PROCESSES;
  private static final int ALL = PROCESSES * EACH;

  /** The processes have shorter limits of their own, and say which one they have missed. */
  private static final Duration LIMIT = Duration.ofMinutes(4);

  @TempDir Path directory;
  private final List<ChildProcess> processes = new ArrayList<>();

  @AfterEach
  void endAll() {
    processes.forEach(ChildProcess::close);
  }

  private void start(int first) throws IOException {
    processes.add(
        TestJvm.of(ManyNodesMain.class, 512, Variant.SHM.name(), directory, first, EACH, ALL)
            .start());
  }

  /** Asks all processes; what they say. */
  private List<String> askAll(String what) throws IOException, InterruptedException {
    for (ChildProcess each : processes) {
      each.send(what);
    }
    List<String> said = new ArrayList<>();
    for (ChildProcess each : processes) {
      said.add(each.awaitLine(".*", LIMIT).group());
    }
    return said;
  }

  private void sendAll() throws IOException, InterruptedException {
    assertThat(askAll("send")).as(this::errors).containsOnly("SENT");
  }

  /**
   * Waits until each process has as many connections as there must be, and has made no other ones
   * but those that were lost. A node that was welcomed after the other side had given the handshake
   * up has made a connection and loses it, which both are told a little later, and connects again:
   * on a machine that others use, five seconds for a handshake can be too few.
   */
  private void awaitOneConnectionEach() throws IOException, InterruptedException {
    int connections = EACH * (ALL - 1);
    String expected = "HAS " + connections + " " + connections;
    long deadline = System.nanoTime() + LIMIT.toNanos();
    List<String> said = askAll("count");
    while (!said.stream().allMatch(expected::equals) && System.nanoTime() - deadline < 0) {
      Thread.sleep(100);
      said = askAll("count");
    }
    assertThat(said).as(this::errors).containsOnly(expected);
  }

  @Test
  void eachIsConnectedToEachOnce() throws Exception {
    for (int i = 0; i < PROCESSES; i++) {
      start(i * EACH);
    }
    for (ChildProcess each : processes) {
      assertThat(each.awaitLine(".*", LIMIT).group()).as(errors()).isEqualTo("READY");
    }
    long begin = System.nanoTime();
    sendAll();
    long tookMs = (System.nanoTime() - begin) / 1_000_000;
    System.out.println(ALL * (ALL - 1) / 2 + " connections in " + tookMs + " ms");
    awaitOneConnectionEach();
    sendAll();
    awaitOneConnectionEach();
    for (ChildProcess each : processes) {
      each.closeInput();
    }
    for (ChildProcess each : processes) {
      int unused = each.awaitEnd(LIMIT);
    }
    for (String each : new String[] {"run", "shm"}) {
      try (Stream<Path> left = Files.list(directory.resolve(each))) {
        assertThat(left).as("left in %s", each).isEmpty();
      }
    }
  }

  private String errors() {
    return processes.stream().map(ChildProcess::toString).collect(Collectors.joining("\n"));
  }
}
