// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.result.Results;
import io.talaria.bench.result.ResultsReader;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A run that is ended from outside while it measures. */
@Timeout(120)
class InterruptTest {
  private static final int TERMINATED = 128 + 15;

  /** The second case would take ten minutes. */
  private static final String PLAN =
      """
      {"name": "long", "bindings": ["nio"], "transports": ["shm"],
       "patterns": ["throughput", "pingpong"], "sizes": [16],
       "operations": {"throughput": 100, "latency": 1000000000000}, "seconds": 600,
       "warmUpSeconds": 0}
      """;

  @Test
  void whatIsDoneIsKeptAndNobodyIsLeft(@TempDir Path folder) throws Exception {
    Path plan = Files.writeString(folder.resolve("plan.json"), PLAN);
    Path results = folder.resolve("results");
    Process observe =
        new ProcessBuilder(ObserveJvm.command("--out", results.toString(), plan.toString()))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (BufferedReader lines = observe.errorReader()) {
      String line;
      do {
        line = lines.readLine();
      } while (line != null && !line.contains("pingpong"));
      List<ProcessHandle> jvms = observe.descendants().toList();
      assertThat(jvms).isNotEmpty();
      observe.toHandle().destroy(); // SIGINT may be ignored where the tests run
      String told = String.join("\n", lines.lines().toList());
      assertThat(observe.waitFor()).isEqualTo(TERMINATED);
      assertThat(told.strip())
          .startsWith("report      " + results)
          .endsWith("talaria: interrupted with 1 of 2 cases done")
          .hasLineCount(5);
      assertThat(jvms).noneMatch(ProcessHandle::isAlive);
    } finally {
      observe.destroyForcibly();
    }
    assertThat(Files.readAllLines(results.resolve("results.csv"))).hasSize(1 + 1);
    try (Stream<Path> files = Files.list(results)) {
      Path report = files.filter(file -> file.toString().endsWith(".html")).findAny().orElseThrow();
      assertThat(report)
          .content()
          .contains("Ended    interrupted with 1 of 2 cases done")
          .doesNotContain("ended before it reported");
      Results read = ResultsReader.read(results).getFirst();
      assertThat(read.rows()).hasSize(1);
      assertThat(read.conditions()).contains("Ended    interrupted with 1 of 2 cases done");
    }
  }
}
