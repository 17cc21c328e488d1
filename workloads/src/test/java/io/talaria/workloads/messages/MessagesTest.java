// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.TalariaCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
  void eachContenderDeliversWhatWasSent() {
    TalariaCommand.Ended ended =
        TalariaCommand.run(
                ("bench messages --sizes 64 --rounds 1 --warm-up 0.1 --seconds 0.2 --no-pin")
                    .split(" ", -1))
            .well();
    for (MessagesContender each : MessagesContender.values()) {
      assertThat(ended.out())
          .contains("\n" + each + " ")
          .contains(each + ": " + each.description());
    }
    assertThat(ended.out()).contains("throughput 64 B", "ask 64 B");
  }
}
