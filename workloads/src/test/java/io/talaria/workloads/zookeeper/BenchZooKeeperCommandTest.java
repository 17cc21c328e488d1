// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.run.Invocation;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchZooKeeperCommandTest {
  @TempDir private Path folder;

  private static Invocation bench(String... args) {
    return Invocation.of(new BenchZooKeeperCommand(), args);
  }

  @Test
  void comparesBothRoads() throws Exception {
    Path export = folder.resolve("series.txt");
    Invocation bench =
        bench(
            "-n",
            "20",
            "-o",
            "100",
            "-t",
            "2",
            "-w",
            "a",
            "--warm-up",
            "0",
            "--no-pin",
            "--series",
            "1",
            "-e",
            export.toString());
    assertThat(bench.status()).as(bench.err()).isZero();
    assertThat(bench.out())
        .contains("load, insert", "run, read", "run, update")
        .contains("Connections on Talaria, run: 2 shm (same-host)");
    assertThat(Files.readString(folder.resolve("series-talaria-run.txt")))
        .containsPattern("\\[READ\\], \\d+, \\d");
  }

  @Test
  void refusesWhatZooKeeperCannotDo() {
    Invocation scans = bench("-w", "e");
    assertThat(scans.status()).isEqualTo(2);
    assertThat(scans.err()).contains("--workload: it scans, which ZooKeeper cannot");
    Invocation large = bench("--size", "2M");
    assertThat(large.status()).isEqualTo(2);
    assertThat(large.err()).contains("--size must be from 1 to 1,000,000, not 2097152");
  }
}
