// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.programs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.Main;
import io.talaria.cli.harness.Json;
import io.talaria.programs.Catalogue;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The benchmarks of programs from end to end, in their shortest form. */
@Timeout(300)
class BenchProgramsTest {
  @TempDir private Path folder;

  private record Ended(int status, String out, String err) {}

  private static Ended run(String words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err, true))
            .execute(words.split(" ", -1));
    return new Ended(status, out.toString(), err.toString());
  }

  private JsonNode measured(String words) throws Exception {
    Path json = folder.resolve("found.json");
    Ended ended = run("bench " + words + " --iterations 1 --warm-up 0 --no-pin --json " + json);
    assertThat(ended.status()).as(ended.out() + ended.err()).isZero();
    return Json.parse(Files.readString(json));
  }

  private static void assertBoth(JsonNode json, String id) {
    for (JsonNode measure : json.path("measures")) {
      if (measure.path("id").asText().equals(id)) {
        assertThat(measure.path("jdk").path("median").asDouble()).isPositive();
        assertThat(measure.path("talaria").path("median").asDouble()).isPositive();
        return;
      }
    }
    throw new AssertionError(id + " is not in " + json);
  }

  @Test
  void severalClientsOfHazelcastOnBothTransports() throws Exception {
    assertBoth(measured("programs hazelcast -l 100 -c 2 --seconds 0.3"), "hazelcast/100/2/rate");
  }

  /** Artemis takes Netty's native transport where it is available. */
  @Test
  void nettysTransportAndTheAgentOnTcpAreColumnsOfTheirOwn() throws Exception {
    JsonNode json = measured("programs artemis --epoll --on-tcp --seconds 0.3");
    assertBoth(json, "artemis/16/1/rate");
    assertThat(json.path("measures").path(0).path("iterations").fieldNames())
        .toIterable()
        .containsExactlyInAnyOrder("JDK", "TALARIA", "NETTY_EPOLL", "TALARIA_ON_TCP");
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void eachProgramOnBothTransports(Catalogue program) throws Exception {
    JsonNode json = measured("programs " + program + " --seconds 0.3");
    assertBoth(json, program + "/16/1/rate");
    assertBoth(json, program + "/16/1/p50");
  }

  @Test
  void recordsOfKafkaOnBothTransports() throws Exception {
    JsonNode json = measured("kafka -l 100 --seconds 0.3");
    assertBoth(json, "produce/100/rate");
    assertBoth(json, "consume/100/rate");
  }

  @Test
  void wrongUsageIsToldAsSuch() {
    assertWrong("programs mysql", "PROGRAM: there is no 'mysql', but activemq, ");
    assertWrong("programs --listen", "--listen, --remote: this starts both sides");
    assertWrong(
        "programs --on-tcp --transport tcp", "--on-tcp: --transport tcp leaves Talaria out");
    assertWrong("kafka eat", "PATTERN: there is no 'eat', but produce, consume");
    assertWrong("kafka -c 2", "--connections must be");
  }

  private static void assertWrong(String words, String message) {
    Ended ended = run("bench " + words);
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).contains(message).doesNotContain("\tat ");
  }
}
