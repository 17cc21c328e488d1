// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ucx.Ucx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class ExamplesTest {
  private static final long LIMIT_S = 80;

  @TempDir Path dir;

  @BeforeAll
  static void needsUcx() {
    assumeTrue(Ucx.obstacle().isEmpty(), () -> Ucx.obstacle().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "messaging | asked «how are you?», was told «12 letters of thanks»",
        "streaming | 6553600 bytes in chunks, their sum is 6553600",
        "active-messages | the last of 100000 squares is 9999800001",
        "remote-memory | read back «written from afar» from",
        "atomics | counted to 2997, then 3001; locked: true, again: false",
        "wake-up | descriptor there",
      })
  void examplesWork(String name, String found) throws Exception {
    assertThat(Examples.all().get(name).run()).startsWith(found);
  }

  /** Runs them as {@code ./talaria ucx-example} does, in a JVM of their own. */
  private int run(String... names) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Examples.class.getName());
    command.addAll(List.of(names));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(printed().toFile())
            .start();
    try {
      assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).as("ended").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return process.exitValue();
  }

  private Path printed() {
    return dir.resolve("printed");
  }

  @Test
  void theCommandRunsThemAllInTurn() throws Exception {
    assertThat(run()).as(() -> "printed " + printed()).isZero();
    assertThat(Files.readAllLines(printed()).stream().filter(line -> line.contains(": ")))
        .extracting(line -> line.substring(0, line.indexOf(':')))
        .containsSubsequence(Examples.all().keySet());
  }

  @Test
  void theCommandRunsThoseThatAreNamed() throws Exception {
    assertThat(run("wake-up", "atomics")).isZero();
    assertThat(printed()).content().contains("wake-up: ", "atomics: ").doesNotContain("messaging:");
    assertThat(run("nothing")).isEqualTo(2);
    assertThat(printed()).content().contains("no example nothing; there are messaging, ");
  }
}
