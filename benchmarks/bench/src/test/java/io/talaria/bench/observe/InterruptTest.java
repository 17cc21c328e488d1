// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.result.Results;
import io.talaria.bench.result.ResultsReader;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A run that is ended from outside while it measures. */
@Timeout(120)
class InterruptTest {
  private static final int TERMINATED = 128 + 15;
  private static final Duration LIMIT = Duration.ofMinutes(1);

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
    List<String> command = ObserveJvm.command("--out", results.toString(), plan.toString());
    // What it tells goes to its standard error.
    try (ChildProcess observe =
        ChildProcess.command(command.toArray())
            .under("sh", "-c", "exec \"$@\" 2>&1 >/dev/null", "sh")
            .start()) {
      String begun = observe.awaitLine(".*pingpong.*", LIMIT).group();
      List<ProcessHandle> jvms =
          ProcessHandle.of(observe.pid()).orElseThrow().descendants().toList();
      assertThat(jvms).isNotEmpty();
      observe.signal("TERM"); // SIGINT may be ignored where the tests run
      assertThat(observe.awaitEnd(LIMIT)).isEqualTo(TERMINATED);
      List<String> lines = observe.out();
      String told = String.join("\n", lines.subList(lines.indexOf(begun) + 1, lines.size()));
      assertThat(told.strip())
          .startsWith("report      " + results)
          .endsWith("talaria: interrupted with 1 of 2 cases done")
          .hasLineCount(5);
      assertThat(jvms).noneMatch(ProcessHandle::isAlive);
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
