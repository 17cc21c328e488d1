// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A run whose files may not grow as long as they would, as if the disk were full. */
@Timeout(120)
class FullDiskTest {
  private static final String PLAN =
      """
      {"name": "much", "bindings": ["nio"], "transports": ["tcp"], "patterns": ["pingpong"],
       "sizes": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
       "operations": {"latency": 20}, "seconds": 0.01, "warmUpSeconds": 0}
      """;

  @Test
  void rowsAreWrittenWholeOrNotAtAll(@TempDir Path folder) throws Exception {
    Path plan = Files.writeString(folder.resolve("plan.json"), PLAN);
    Path results = folder.resolve("results");
    List<String> command =
        ObserveJvm.command(
            "--java-option", "-XX:-UsePerfData", "--out", results.toString(), plan.toString());
    ChildProcess observe =
        ChildProcess.command(command.toArray())
            .under("bash", "-c", "ulimit -f 4; exec \"$@\"", "bash")
            .run(Duration.ofMinutes(2));
    assertThat(observe.exitStatus()).as(observe::toString).isEqualTo(1);
    assertThat(observe.output())
        .contains("failed      cannot write " + results.resolve("results.csv") + ": File too large")
        .doesNotContain("report      ");
    assertThat(results.toFile().listFiles(File::isFile))
        .noneMatch(file -> file.getName().endsWith(".html"));
    assertThat(results.toFile().listFiles(File::isFile))
        .noneMatch(file -> file.getName().endsWith(".part"));
    List<String> lines = Files.readAllLines(results.resolve("results.csv"));
    assertThat(lines).hasSizeBetween(1 + 1, 1 + 11);
    assertThat(lines).allMatch(line -> line.endsWith(".1") || line.endsWith(",histogram"));
  }
}
