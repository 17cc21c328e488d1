// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(180)
class ExamplesTest {
  private static final Duration LIMIT = Duration.ofSeconds(80);
  private static final Random RANDOM = new Random();

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
    int port = freePort();
    try (ChildProcess first = command("--listen", Integer.toString(port)).start();
        ChildProcess second = command("--connect", "127.0.0.1:" + port).start()) {
      second.awaitSuccess(Duration.ofSeconds(50));
      first.awaitSuccess(Duration.ofSeconds(10));
      for (Map.Entry<String, Examples.Example> each : Examples.all().entrySet()) {
        assertThat(first.output()).contains(each.getKey() + ": " + each.getValue().begins());
        assertThat(second.output()).contains(each.getKey() + ": over ");
      }
    }
  }

  /** Not one of those that the system gives to clients, by default from 32768 on. */
  private static int freePort() throws IOException {
    while (true) {
      try (ServerSocket free = new ServerSocket(RANDOM.nextInt(20_000, 32_000))) {
        return free.getLocalPort();
      } catch (BindException e) {
        // It is taken.
      }
    }
  }

  @Test
  void theCommandRunsThemAllInTurn() throws Exception {
    ChildProcess all = command().runSuccessfully(LIMIT);
    assertThat(all.output().lines().filter(line -> line.contains(": ")))
        .extracting(line -> line.substring(0, line.indexOf(':')))
        .containsSubsequence(Examples.all().keySet());
  }

  @Test
  void theCommandRunsThoseThatAreNamed() throws Exception {
    ChildProcess some = command("wake-up", "atomics").runSuccessfully(LIMIT);
    assertThat(some.output()).contains("wake-up: ", "atomics: ").doesNotContain("messaging:");
    ChildProcess none = command("nothing").run(LIMIT);
    assertThat(none.exitStatus()).isEqualTo(2);
    assertThat(none.output()).contains("no example nothing; there are messaging, ");
  }

  private ChildProcess.Builder command(Object... arguments) {
    return ChildProcess.jvm(Examples.class, arguments)
        .options("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC")
        .directory(directory);
  }
}
