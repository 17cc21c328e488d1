// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every entry to UCX says in a sentence why it cannot be used, the second time as the first. */
@Timeout(60)
class UnavailableReasonTest {
  private static final Duration LIMIT = Duration.ofSeconds(50);

  private static void refuses(String sentence, String... options)
      throws IOException, InterruptedException {
    try (ChildProcess child =
        ChildProcess.jvm(UnavailableReasonMain.class).options(options).runSuccessfully(LIMIT)) {
      assertThat(child.out())
          .containsExactly("open: " + sentence, "reason: " + sentence, "text: " + sentence);
    }
  }

  @Test
  void aPropertyThatNamesAnotherLibraryIsToBeCorrected() throws Exception {
    Optional<String> libc;
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      libc = lines.filter(line -> line.endsWith("/libc.so.6")).findFirst();
    }
    assumeTrue(libc.isPresent(), "not glibc");
    String file = libc.get().substring(libc.get().indexOf('/'));
    refuses(
        "UCX ("
            + file
            + ") is not libucp: it has no ucs_debug_disable_signals."
            + " Correct the property talaria.ucx.library or remove it.",
        "--enable-native-access=ALL-UNNAMED",
        "-Dtalaria.ucx.library=" + file);
  }

  @Test
  void deniedNativeAccessIsToBeEnabled() throws Exception {
    assumeTrue(Runtime.version().feature() >= 24, "this JVM has no --illegal-native-access");
    refuses(
        "This JVM denies native access. Start it with --enable-native-access=ALL-UNNAMED.",
        "--illegal-native-access=deny");
  }
}
