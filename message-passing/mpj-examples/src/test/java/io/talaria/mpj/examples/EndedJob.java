// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.launch.Mpirun;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A job that a launcher has run to its end, without an error. */
public final class EndedJob {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private EndedJob() {}

  /**
   * Runs one.
   *
   * @param words for the launcher
   * @return what its ranks printed
   * @throws IOException if it cannot be started
   * @throws InterruptedException if interrupted
   */
  public static String out(List<String> words) throws IOException, InterruptedException {
    // Its own: other tests start jobs at the same time.
    Path jobs = Files.createTempDirectory(Path.of("/dev/shm"), "talaria-test-");
    List<Object> arguments = new ArrayList<>(List.of("-Dtalaria.mpj.dir=" + jobs));
    for (String each : System.getProperty("talaria.test.children", "").split(" ", -1)) {
      if (!each.isEmpty()) {
        arguments.add(each);
      }
    }
    arguments.addAll(words);
    try (ChildProcess launcher =
        ChildProcess.jvm(Mpirun.class, arguments.toArray())
            .options("--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1")
            .start()) {
      assertThat(launcher.awaitEnd(LIMIT)).as(launcher::output).isZero();
      assertThat(launcher.errText()).isEmpty();
      return launcher.outText();
    } finally {
      Files.delete(jobs);
    }
  }
}
