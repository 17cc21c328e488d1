// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Command;
import io.talaria.it.harness.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The demo and the bench from end to end, in their shortest form. They fail by themselves if a
 * connection that should be accelerated is not.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class CommandTest {
  private static final Duration LIMIT = Duration.ofSeconds(200);

  @TempDir Path dir;
  private String agent;

  @BeforeEach
  void findAgent() {
    agent = Settings.agent().orElseThrow().toString();
  }

  @Test
  void theDemoComparesAndDraws() throws Exception {
    Path picture = dir.resolve("latency.svg");
    Path numbers = dir.resolve("demo.json");

    String printed =
        Command.run(
            LIMIT,
            "demo",
            "--speed=100",
            "--no-pin",
            "--agent=" + agent,
            "--out=" + picture,
            "--json=" + numbers);

    assertThat(printed).contains("p99.9", "64 KiB", picture.toString());
    assertThat(picture).content().contains("<svg");
    assertThat(numbers).content().contains("\"talaria\"", "\"jdk\"");
  }

  @Test
  void theBenchComparesPatterns() throws Exception {
    Path numbers = dir.resolve("bench.json");

    String printed =
        Command.run(
            LIMIT,
            "bench",
            "sockets",
            "--seconds=0.1",
            "--iterations=1",
            "--patterns=blocking,oneway",
            "--sizes=64K",
            "--connections=1",
            "--no-ucx",
            "--no-pin",
            "--agent=" + agent,
            "--java-option=-Dtalaria.dir=" + dir.resolve("run"),
            "--json=" + numbers);

    assertThat(printed).contains("blocking", "64 KiB one way");
    assertThat(numbers).content().contains("\"talaria\"", "\"jdk\"", "\"TALARIA\"");
  }
}
