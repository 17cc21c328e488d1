// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.workloads.TalariaCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example messages and the benchmark of that name, from end to end. */
@Timeout(240)
class MessagesTest {
  @Test
  void anotherProcessAnswersEachLine() throws Exception {
    try (TalariaCommand example = TalariaCommand.start("example", "messages")) {
      example.type("hello\n");
      example.awaitOutput("HELLO (node 2, shm)\n");
      example.type("again");
      assertThat(example.end().well().out())
          .isEqualTo("HELLO (node 2, shm)\nAGAIN (node 2, shm)\n");
    }
  }

  @Test
  void nodesFindEachOtherOnThisHost() throws Exception {
    try (TalariaCommand there =
            TalariaCommand.start("example", "messages", "--node", "40002", "--answer");
        TalariaCommand here = TalariaCommand.start("example", "messages", "--node", "40001")) {
      there.awaitError("answers");
      here.type("40002 how are you?\n");
      here.awaitOutput("HOW ARE YOU? (node 40002, shm)\n");
      here.end().well();
      there.kill();
    }
  }

  @Test
  void nobodyThereIsTold() {
    assertThat(
            TalariaCommand.runWith("40009 hello\n", "example", "messages", "--node", "40001").out())
        .contains("UNREACHABLE: node 40009 is not announced on this host");
  }

  @Test
  void eachContenderAnswersWhatWasAsked() {
    bench("ask");
  }

  @Tag("long")
  @Test
  void eachContenderDeliversWhatWasSent() {
    bench("throughput");
  }

  private static void bench(String pattern) {
    String words = " --sizes 64 --rounds 1 --warm-up 0.1 --seconds 0.2 --no-pin";
    TalariaCommand.Ended ended =
        TalariaCommand.run(("bench messages " + pattern + words).split(" ", -1)).well();
    for (MessagesContender each : MessagesContender.values()) {
      assertThat(ended.out())
          .contains("\n" + each + " ")
          .contains(each + ": " + each.description());
    }
    assertThat(ended.out()).contains(pattern + " 64 B");
  }

  @Test
  void theOwnRoadsDeliverWhatWasSent(@TempDir Path folder) throws Exception {
    Path json = folder.resolve("messages.json");
    String words =
        "bench messages throughput --against bare --sizes 64 --rounds 1 --warm-up 0.1 --seconds 0.2"
            + " --no-pin --json ";
    assertThat(TalariaCommand.run((words + json).split(" ", -1)).well().out())
        .contains("throughput 64 B", "\nshm ", "\nstream ", "\nbare ");
    JsonNode measure = Json.parse(Files.readString(json)).path("measures").get(0);
    assertThat(measure.path("id").asText()).isEqualTo("throughput/64/rate");
    for (String contender : new String[] {"shm", "stream", "bare"}) {
      assertThat(measure.path("rounds").path(contender).get(0).asDouble()).isPositive();
    }
  }
}
