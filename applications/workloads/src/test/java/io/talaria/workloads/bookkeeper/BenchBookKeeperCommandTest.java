// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.workloads.TalariaCommand;
import io.talaria.workloads.TalariaCommand.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchBookKeeperCommandTest {
  @TempDir private Path folder;

  private static Ended bench(String args) {
    return TalariaCommand.run(("bench bookkeeper " + args).split(" ", -1));
  }

  @Test
  void comparesBothTransports() throws Exception {
    Path json = folder.resolve("ledgers.json");
    String options =
        "-m 50 --size 16,1K,16 --outstanding 4 --warm-up 0 --no-pin --iterations 1 --json ";
    assertThat(bench(options + json).well().out())
        .contains("write, 16 B", "read, 16 B", "write, 1 KiB", "read, 1 KiB")
        .contains("Connections on Talaria, ledgers: 2 shm (same-host)");
    JsonNode read = Json.parse(Files.readString(json));
    assertThat(read.path("options").path("job").path("entries").asInt()).isEqualTo(50);
    assertThat(read.path("options").path("job").path("sizes")).hasSize(2);
    assertThat(read.path("measures")).hasSize(8);
    assertThat(read.path("runs")).hasSize(2);
  }

  @Test
  void refusesWrongOptions() {
    bench("--listen").failed(2, "--listen must name the address that clients reach");
    bench("--outstanding 0").failed(2, "--outstanding must be from 1 to 10,000, not 0");
    bench("--entries 0").failed(2, "--entries must be from 1 to 100,000,000, not 0");
  }
}
