// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What happens to one side of a benchmark when the other one is killed in the middle of it. */
@Timeout(240)
class LossTest {
  private static final String[] AT_ONCE = {"--iterations", "1", "--warm-up", "0", "--no-pin"};

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "netty      | ping-pong -l 16 --seconds 600                      | : measuring",
        "kvs        | -n 20 -o 100000000 --live                          |  of 100,000,000"
      })
  void aBenchmarkOutlivesItsClientAndTellsThatItsServerHasGone(
      String name, String options, String measuring) throws Exception {
    try (TalariaCommand server = TalariaCommand.server("bench", name)) {
      String address = server.address();
      String[] words =
          Stream.of(
                  Stream.of("bench", name, "--remote", address),
                  Stream.of(options.strip().split(" ", -1)),
                  Stream.of(AT_ONCE))
              .flatMap(some -> some)
              .toArray(String[]::new);
      try (TalariaCommand killed = TalariaCommand.start(words)) {
        killed.awaitError(measuring);
        killed.killJvms();
        killed.ended().failed(1, "the client ended before it reported 'result'");
      }
      try (TalariaCommand client = TalariaCommand.start(again(name, words))) {
        client.awaitError(measuring);
        server.killJvms();
        client.endedWithItsJvms().failed(1, "talaria: ", address);
        TalariaCommand.Ended ended = server.endedWithItsJvms();
        assertThat(ended.status()).isEqualTo(1);
        assertThat(ended.err()).startsWith("talaria: the server ended");
      }
    }
  }

  @ParameterizedTest
  @Tag("long")
  @CsvSource(
      delimiter = '|',
      value = {
        "grpc       | --call streaming --client async --seconds 600      | : measuring",
        "zookeeper  | -n 20 -o 100000000 --live                          |  of 100,000,000",
        "bookkeeper | -m 100000000 --live                                | : writes of 1024 B"
      })
  void anotherBenchmarkOutlivesItsClientAndTellsThatItsServerHasGone(
      String name, String options, String measuring) throws Exception {
    aBenchmarkOutlivesItsClientAndTellsThatItsServerHasGone(name, options, measuring);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "grpc       | --call unary --client async --seconds 600 | : measuring        | server",
        "zookeeper  | -n 20 -o 100000000 --live      |  of 100,000,000    | server"
      })
  void aBenchmarkNamesItsOwnServerThatHasGone(
      String name, String options, String measuring, String who) throws Exception {
    String[] words =
        Stream.of(
                Stream.of("bench", name, "--transport=tcp"),
                Stream.of(options.strip().split(" ", -1)),
                Stream.of(AT_ONCE))
            .flatMap(some -> some)
            .toArray(String[]::new);
    try (TalariaCommand both = TalariaCommand.start(words)) {
      both.awaitError(measuring);
      both.killServer();
      both.endedWithItsJvms().failed(1, " on JDK: the " + who + " ended (exit status 137)\n");
    }
  }

  @ParameterizedTest
  @Tag("long")
  @CsvSource(
      delimiter = '|',
      value = {
        "netty      | ping-pong -l 16 --seconds 600  | : measuring        | server",
        "kvs        | -n 20 -o 100000000 --live      |  of 100,000,000    | server 1",
        "bookkeeper | -m 100000000 --live            | : writes of 1024 B | server"
      })
  void anotherBenchmarkNamesItsOwnServerThatHasGone(
      String name, String options, String measuring, String who) throws Exception {
    aBenchmarkNamesItsOwnServerThatHasGone(name, options, measuring, who);
  }

  @Test
  void aCaseThatFailsIsMarkedWithItsCauseAndTheNextIsMeasured(@TempDir Path folder)
      throws Exception {
    Path file = folder.resolve("found.json");
    String words = "bench netty ping-pong -l 16,64 --transport=tcp --seconds 5 --json " + file;
    String[] all =
        Stream.concat(Stream.of(words.split(" ", -1)), Stream.of(AT_ONCE)).toArray(String[]::new);
    try (TalariaCommand both = TalariaCommand.start(all)) {
      both.awaitError("ping-pong 16 B, JDK: measuring");
      both.killServer();
      TalariaCommand.Ended ended = both.endedWithItsJvms();

      ended.failed(1, "talaria: ping-pong 16 B on JDK: the server ended (exit status 137)\n");
      assertThat(ended.out())
          .containsPattern("(?m)^ping-pong 16 B +failed *$")
          .containsPattern("(?m)^ping-pong 64 B, p50 +\\d")
          .contains("\nMissing:\n  ping-pong 16 B, JDK, iteration 1: the server ended");
    }
    JsonNode json = Json.parse(Files.readString(file));
    assertThat(json.path("missing").path(0).path("cause").asText())
        .startsWith("the server ended (exit status 137)");
    assertThat(json.path("measures").path(0).path("id").asText()).startsWith("ping-pong/64/");
  }

  /** What the first client has loaded is still there. */
  private static String[] again(String name, String[] words) {
    boolean loads = name.equals("kvs") || name.equals("zookeeper");
    return loads
        ? Stream.concat(Stream.of(words), Stream.of("-p", "run")).toArray(String[]::new)
        : words;
  }
}
