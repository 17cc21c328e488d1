// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.TalariaCommand;
import io.talaria.workloads.TalariaCommand.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchZooKeeperCommandTest {
  @TempDir private Path folder;

  private static Ended bench(String args) {
    return TalariaCommand.run(("bench zookeeper " + args).split(" ", -1));
  }

  @Test
  void comparesBothTransports() throws Exception {
    String options = "-n 20 -o 100 -t 2 -w a --warm-up 0 --no-pin --iterations 1 --series 1 -e ";
    Ended bench = bench(options + folder.resolve("series.txt"));
    assertThat(bench.well().out())
        .contains("load, insert", "run, read", "run, update")
        .contains("Connections on Talaria, load; run: 2 shm (same-host)");
    assertThat(Files.readString(folder.resolve("series-talaria-run.txt")))
        .containsPattern("\\[READ\\], \\d+, \\d");
  }

  @Test
  void refusesWhatZooKeeperCannotDo() {
    bench("-w e").failed(2, "--workload: it scans, which ZooKeeper cannot");
    bench("--size 2M").failed(2, "--size must be from 1 to 1,000,000, not 2097152");
    bench("--remote a,b").failed(2, "--remote names one server here, not 2");
  }
}
