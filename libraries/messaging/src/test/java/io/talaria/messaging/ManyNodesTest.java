// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

  @TempDir Path directory;
  private final List<Process> processes = new ArrayList<>();
  private final List<BufferedReader> outputs = new ArrayList<>();

  @AfterEach
  void endAll() {
    processes.forEach(Process::destroyForcibly);
  }

  private void start(int first) throws IOException {
    Process process =
        TestJvm.start(
            ManyNodesMain.class,
            512,
            directory.resolve("process-" + first),
            Variant.SHM.name(),
            directory.toString(),
            Integer.toString(first),
            Integer.toString(EACH),
            Integer.toString(ALL));
    processes.add(process);
    outputs.add(process.inputReader(StandardCharsets.UTF_8));
  }

  /** Has all send to all; what they say. */
  private List<String> round() throws IOException {
    for (Process each : processes) {
      each.getOutputStream().write('\n');
      each.getOutputStream().flush();
    }
    List<String> said = new ArrayList<>();
    for (BufferedReader each : outputs) {
      said.add(each.readLine());
    }
    return said;
  }

  @Test
  void eachIsConnectedToEachOnce() throws Exception {
    for (int i = 0; i < PROCESSES; i++) {
      start(i * EACH);
    }
    for (BufferedReader each : outputs) {
      assertThat(each.readLine()).as(errors()).isEqualTo("READY");
    }
    long begin = System.nanoTime();
    List<String> said = round();
    long tookMs = (System.nanoTime() - begin) / 1_000_000;
    System.out.println(ALL * (ALL - 1) / 2 + " connections in " + tookMs + " ms");
    // All have been sent to. A node that was welcomed after the other side had given the handshake
    // up
    // has made a connection and lost it, which both is told, and connects again: on a machine
    // that others use, five seconds for a handshake can be too few.
    String connections = EACH * (ALL - 1) + " " + EACH * (ALL - 1);
    assertThat(said).as(errors()).containsOnly("SENT " + connections + " 1");
    assertThat(round()).as(errors()).containsOnly("SENT " + connections + " 2");
    for (Process each : processes) {
      each.getOutputStream().close();
    }
    for (Process each : processes) {
      assertThat(each.waitFor(120, TimeUnit.SECONDS)).as("ended by itself").isTrue();
    }
    for (String each : new String[] {"run", "shm"}) {
      try (Stream<Path> left = Files.list(directory.resolve(each))) {
        assertThat(left).as("left in %s", each).isEmpty();
      }
    }
  }

  private String errors() throws IOException {
    StringBuilder errors = new StringBuilder();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path each : files.filter(Files::isRegularFile).toList()) {
        errors.append(Files.readString(each));
      }
    }
    return errors.toString();
  }
}
