// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.engine.LocalBenchmarkServer;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.cli.Main;
import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The command, whose threads spin, as those of {@code ucx_perftest} do. */
@Tag("alone")
@Timeout(300)
class BenchUcxCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return new CommandLine(new BenchUcxCommand())
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
  @CsvSource(
      delimiter = '|',
      value = {
        "--operations=send     | 'send' is no operation; there are: tag, tag-sync, stream",
        "--measures=speed      | --measures: there is no 'speed', but latency, throughput",
        "--sizes=0             | '0' is no size; use a number of bytes from 1 to 16M",
        "--threads=0           | --threads must be from 1 to 64, not 0",
        "--iterations=101          | --iterations must be from 1 to 100, not 101",
        "--seconds=0           | --seconds must be from 0.01 to 600, not 0",
        "--busy=-1             | --busy must be from 0 to 1,024, not -1",
        "--quick --seconds=3   | --seconds does not go with --quick",
        "--remote=node:1       | --remote needs --token, which the server has printed, and a host",
        "--remote=:1 --token=x | --remote needs --token, which the server has printed, and a host",
        "--token=x             | --token needs --remote or --listen",
        "--threads=2 --cores=0,0 | --cores does not go with several --threads",
        "--remote=a --listen=b | talaria: --listen, --remote=HOST[:PORT] are mutually exclusive",
        "--remote=node:door    | 'node:door' is no HOST:PORT",
      })
  void wrongUsageIsToldWithTheAllowedValues(String args, String message) {
    List<String> words = new ArrayList<>(List.of("bench", "ucx"));
    words.addAll(List.of(args.split(" ")));
    assertThat(
            Main.commandLine().setErr(new PrintWriter(err)).execute(words.toArray(String[]::new)))
        .isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void helpShowsExamples() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("Examples:", "talaria bench ucx --quick", "--listen");
  }

  @Test
  void missingUcxIsToldWithTheHintAndAStatusOfItsOwn() {
    assertThat(run("--quick", "--java-option", "-Dtalaria.ucx.library=/nowhere/libucp.so"))
        .isEqualTo(69);
    assertThat(err.toString())
        .contains("talaria: UCX (/nowhere/libucp.so, from the property talaria.ucx.library)")
        .contains("Correct the property or remove it.");
  }

  @Test
  void aServerThatIsNotThereIsAClearError() {
    NeedsUcx.check();
    assertThat(run("--quick", "--remote", "127.0.0.1:1", "--token", "x")).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("no server at 127.0.0.1:1")
        .endsWith("start one there: the same command with --listen\n");
  }

  @Test
  void aShortRunMeasuresBothAndComparesThem(@TempDir Path folder) throws Exception {
    NeedsUcx.check();
    assumeTrue(UcxPerftest.installed(), "no ucx_perftest");
    Path json = folder.resolve("result.json");

    int status =
        run(
            "--iterations=1",
            "--seconds=0.1",
            "--warm-up=0.1",
            "--no-pin",
            "--operations=tag,fetch-add",
            "--sizes=16",
            "--measures=latency",
            "--json=" + json);

    assertThat(err.toString()).contains("tag 16 B, latency, Talaria: ");
    assertThat(status).isZero();
    assertThat(out.toString())
        .contains("UCX_TLS=posix,self")
        .containsPattern("tag 16 B, latency +[0-9]")
        .containsPattern("fetch-add 4 B, latency +[0-9]")
        .containsPattern("[01] of 1 targets met");
    JsonNode result = Json.parse(Files.readString(json));
    assertThat(result.get("format").asText()).isEqualTo("talaria-bench-ucx-4");
    assertThat(result.get("measures")).hasSize(3);
    for (JsonNode measure : result.get("measures")) {
      assertThat(measure.get("talaria").get("median").asDouble()).isPositive();
      assertThat(measure.get("ucx").get("median").asDouble()).isPositive();
      assertThat(measure.get("timesUcx").asDouble()).isPositive();
    }
    JsonNode found = result.get("runs").get(0).get("found");
    assertThat(found.get("iterations")).hasSize(5);
    for (String name : List.of("talaria", "before", "after")) {
      assertThat(found.get(name).asDouble()).as(name).isPositive();
    }
  }

  /** The server's side by a benchmark server, as on another host. */
  @Test
  void aServerElsewhereStartsUcxPerftestToo() throws Exception {
    NeedsUcx.check();
    assumeTrue(UcxPerftest.installed(), "no ucx_perftest");
    try (LocalBenchmarkServer benchmarkServer = new LocalBenchmarkServer()) {
      assertThat(
              run(
                  "--iterations=1",
                  "--seconds=0.1",
                  "--warm-up=0.1",
                  "--no-pin",
                  "--operations=put",
                  "--sizes=16",
                  "--measures=latency",
                  "--transports=posix,self",
                  "--remote=127.0.0.1:" + benchmarkServer.port(),
                  "--token=" + LocalBenchmarkServer.TOKEN))
          .as(err.toString())
          .isZero();
      assertThat(run("--quick", "--remote=127.0.0.1:" + benchmarkServer.port(), "--token=guess"))
          .isEqualTo(1);
    }
    assertThat(out.toString())
        .containsPattern("put 16 B, latency +[0-9]")
        .containsPattern("[01] of 1 targets met");
    assertThat(err.toString()).contains("wrong token: give the one that the server has printed");
  }

  @Test
  void aThroughputOfSeveralThreadsIsMeasuredToo() {
    NeedsUcx.check();
    assertThat(
            run(
                "--iterations=1",
                "--seconds=0.1",
                "--warm-up=0.1",
                "--no-pin",
                "--threads=2",
                "--operations=stream",
                "--sizes=4K",
                "--measures=throughput",
                "--no-perftest"))
        .as(err.toString())
        .isZero();
    assertThat(out.toString()).containsPattern("stream 4 KiB, throughput, 2 threads +[0-9.]+ GB/s");
  }
}
