// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.DirectoryReport;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process killed while it makes its counters file leaves nothing that cannot be swept. */
@Timeout(120)
class CountersNamingTest {
  private static final int KILLED =
      Math.max(3, Integer.getInteger("talaria.test.rounds", 150) / 15);

  @TempDir Path dir;

  /** Makes and removes counters files for ever. */
  static final class Maker {
    private Maker() {}

    public static void main(String[] args) {
      for (boolean told = false; ; told = true) {
        try (ProcessCounters counters = ProcessCounters.open(Path.of(args[0]), Runnable::run)) {
          if (counters.path() == null) {
            throw new AssertionError(counters.problem());
          }
          if (!told) {
            System.out.println("going");
          }
        }
      }
    }
  }

  @Test
  void whateverAKilledProcessWasMakingIsSwept() throws Exception {
    for (int i = 0; i < KILLED; i++) {
      try (ChildProcess maker = ChildProcess.jvm(Maker.class, dir).start()) {
        maker.awaitLine("going", Duration.ofSeconds(60));
      }
      ProcessCounters.sweep(dir);
      try (Stream<Path> left = Files.list(dir)) {
        assertThat(left).as("after kill %d", i).isEmpty();
      }
    }
  }

  @Test
  void aFileHasItsHeaderBeforeItHasItsName() throws Exception {
    Thread maker =
        new Thread(
            () -> {
              for (int i = 0; i < 1000; i++) {
                ProcessCounters.open(dir, Runnable::run).close();
              }
            });
    maker.start();
    int seen = 0;
    while (maker.isAlive()) {
      DirectoryReport report = CountersReader.readDirectory(dir);
      assertThat(report.problems()).isEmpty();
      seen += report.processes().size();
    }
    maker.join();
    assertThat(seen).isPositive();
    try (Stream<Path> left = Files.list(dir)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void twoTalariasInAProcessHaveAFileEach() {
    try (ProcessCounters first = ProcessCounters.open(dir, Runnable::run);
        ProcessCounters second = ProcessCounters.open(dir, Runnable::run)) {
      assertThat(Set.of(first.path(), second.path())).hasSize(2);
      assertThat(second.path().toString()).endsWith("-1.counters");
    }
  }
}
