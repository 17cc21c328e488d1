// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(180)
class ExamplesTest {
  @TempDir Path directory;

  @BeforeAll
  static void needsUcx() {
    assumeTrue(Ucx.unavailableReason().isEmpty(), () -> Ucx.unavailableReason().orElseThrow());
  }

  static Set<String> names() {
    return Examples.all().keySet();
  }

  @ParameterizedTest
  @MethodSource("names")
  void examplesWork(String name) throws Exception {
    Examples.Example example = Examples.all().get(name);
    assertThat(example.body().run()).startsWith(example.begins());
  }

  @Test
  void examplesWorkBetweenTwoProcesses() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Path firstSaid = directory.resolve("first");
    Path secondSaid = directory.resolve("second");
    Process first = start(firstSaid, "--listen", Integer.toString(port));
    Process second = start(secondSaid, "--connect", "127.0.0.1:" + port);
    try {
      assertThat(second.waitFor(50, TimeUnit.SECONDS)).isTrue();
      assertThat(first.waitFor(10, TimeUnit.SECONDS)).isTrue();
      assertThat(first.exitValue()).as(() -> said(firstSaid)).isZero();
      assertThat(second.exitValue()).as(() -> said(secondSaid)).isZero();
      for (Map.Entry<String, Examples.Example> each : Examples.all().entrySet()) {
        assertThat(said(firstSaid)).contains(each.getKey() + ": " + each.getValue().begins());
        assertThat(said(secondSaid)).contains(each.getKey() + ": over ");
      }
    } finally {
      first.destroyForcibly();
      second.destroyForcibly();
    }
  }

  @Test
  void theCommandRunsThemAllInTurn() throws Exception {
    Path printed = directory.resolve("all");
    assertThat(run(printed)).as(() -> said(printed)).isZero();
    assertThat(said(printed).lines().filter(line -> line.contains(": ")))
        .extracting(line -> line.substring(0, line.indexOf(':')))
        .containsSubsequence(Examples.all().keySet());
  }

  @Test
  void theCommandRunsThoseThatAreNamed() throws Exception {
    Path printed = directory.resolve("some");
    assertThat(run(printed, "wake-up", "atomics")).isZero();
    assertThat(said(printed)).contains("wake-up: ", "atomics: ").doesNotContain("messaging:");
    assertThat(run(printed, "nothing")).isEqualTo(2);
    assertThat(said(printed)).contains("no example nothing; there are messaging, ");
  }

  private int run(Path output, String... names) throws Exception {
    Process process = start(output, names);
    try {
      assertThat(process.waitFor(80, TimeUnit.SECONDS)).as("ended").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return process.exitValue();
  }

  private Process start(Path output, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Examples.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  private static String said(Path output) {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
