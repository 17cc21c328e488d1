// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RankProcessTest {
  private static final String LAUNCHER =
      "trap 'sleep 0.3; : >tidied; exit 0' TERM; : >up; while :; do sleep 0.05; done";

  /** A benchmark that waits for its ranks. */
  static final class Bench {
    private Bench() {}

    public static void main(String[] args) throws Exception {
      RankProcess.Command command =
          new RankProcess.Command(List.of("sh", "-c", LAUNCHER), Map.of());
      try (RankProcess ranks = RankProcess.start("ranks", command, Path.of(args[0]))) {
        ranks.await(Duration.ofMinutes(1));
      }
    }
  }

  @Test
  void aLauncherTidiesUpWhereTheBenchmarkIsEnded(@TempDir Path folder) throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String path = System.getProperty("java.class.path");
    Process bench =
        new ProcessBuilder(java, "-cp", path, Bench.class.getName(), folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("bench.out").toFile())
            .start();
    try {
      while (!Files.exists(folder.resolve("up"))) {
        assertThat(bench.isAlive()).isTrue();
        Thread.sleep(20);
      }
      bench.destroy(); // SIGTERM
      assertThat(bench.waitFor()).isEqualTo(128 + 15);
    } finally {
      bench.destroyForcibly();
    }
    assertThat(folder.resolve("tidied")).exists();
  }
}
