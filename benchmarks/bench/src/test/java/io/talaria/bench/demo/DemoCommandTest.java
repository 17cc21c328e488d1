// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Pair;
import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Timeout(120)
class DemoCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir Path folder;

  private int run(String... args) {
    return new CommandLine(new DemoCommand())
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .setExecutionExceptionHandler(
            (e, command, result) -> {
              command.getErr().println(e.getMessage());
              return CommandLine.ExitCode.SOFTWARE;
            })
        .execute(args);
  }

  @ParameterizedTest
  @CsvSource({
    "--out=x.gif, '--out must name a file that ends in .svg, not x.gif'",
    "--out=/nowhere/x.svg, '--out: there is no folder /nowhere'",
    "--speed=0, --speed must be from 1 to 100"
  })
  void wrongUsageIsTold(String arg, String message) {
    assertThat(run(arg)).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void aFolderAsPictureIsRefused() throws Exception {
    Path picture = Files.createDirectory(folder.resolve("x.svg"));
    assertThat(run("--out", picture.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--out: " + picture + " is a folder");
  }

  @Test
  void aMissingAgentIsAClearError() {
    assertThat(run("--agent", "/nowhere/x.jar", "--out", folder.resolve("x.svg").toString()))
        .isEqualTo(1);
    assertThat(err.toString()).contains("no agent: /nowhere/x.jar is not a file");
  }

  /** Both sides on the JDK's sockets; the accelerated demo is tested across modules. */
  @Test
  void theDemoPrintsATableAndWritesAPicture() throws Exception {
    Path picture = folder.resolve("demo.svg");
    Path json = folder.resolve("demo.json");
    System.setProperty(Pair.PLAIN_PROPERTY, "true");
    try {
      assertThat(
              run(
                  "--speed=100",
                  "--no-pin",
                  "--out",
                  picture.toString(),
                  "--json",
                  json.toString()))
          .as(() -> err.toString())
          .isZero();
    } finally {
      System.clearProperty(Pair.PLAIN_PROPERTY);
    }
    assertThat(out.toString())
        .contains("16 B round trip, p99.9", "64 KiB one way", "one way, CPU each")
        .contains("Picture: " + picture);
    assertThat(err.toString().lines())
        .contains("round trips of 16 B, JDK", "64 KiB one way, Talaria");
    assertThat(Files.readString(picture)).contains("<svg", "Talaria   p50", "99.9 %", "Netty echo");
    assertThat(Json.parse(Files.readString(json)).path("measures")).hasSize(8);
  }
}
