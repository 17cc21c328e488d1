// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.TalariaCommand;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The patterns of the benchmark messages in which nodes send to nodes, each in a JVM of its own.
 */
@Timeout(240)
class NodesTest {
  /** Runs it very shortly; returns what it printed. */
  private static String bench(String words) {
    String sizes = words.contains("--sizes") ? "" : " --sizes 16";
    String all =
        "bench messages " + words + sizes + " --iterations 1 --warm-up 0.1 --seconds 0.2 --no-pin";
    return TalariaCommand.run(all.split(" ", -1)).well().out();
  }

  @Test
  void severalNodesDeliverWhatWasSent() {
    String words = "both-ways all-to-all turning ring connect --nodes 3 --transport shm,tcp";
    assertThat(bench(words))
        .contains("both-ways 16 B, 2 nodes", "all-to-all 16 B, 3 nodes", "ring 16 B, 3 nodes")
        .contains("turning 16 B, 3 nodes", "connect, 3 nodes", "\nshm ", "\ntcp ")
        .doesNotContain("netty");
  }

  @ParameterizedTest
  @CsvSource({
    "--threads 3 --dispatch ordered --handlers 2, ', 3 threads, ordered, 2 handlers'",
    "--dispatch concurrent --handlers 2, ', concurrent, 2 handlers'",
    "--dispatch virtual, ', virtual'",
    "--reuse, ', reused'"
  })
  void nodesSendAndReceiveAsTheyAreTold(String options, String label) {
    assertThat(bench("throughput --transport shm " + options))
        .contains("throughput 16 B, 2 nodes" + label + " ")
        .contains("\nshm ");
  }

  @Test
  void nodesSendArraysToEachOther() {
    assertThat(bench("both-ways --transport shm --sizes 4,65536"))
        .contains("both-ways 4 B, 2 nodes ", "both-ways 64 KiB, 2 nodes ");
  }

  @Test
  void nodesWaitAsTheyAreTold() {
    String words = "request --transport shm,tcp --idle adaptive,busy-spin,backoff --against bare";
    assertThat(bench(words))
        .contains("request 16 B ", "request 16 B, busy-spin ", "request 16 B, backoff ")
        .containsOnlyOnce("\nbare ");
    assertThat(bench("both-ways --transport shm --idle busy-spin,backoff"))
        .contains("both-ways 16 B, 2 nodes, busy-spin ", "both-ways 16 B, 2 nodes, backoff ");
  }

  @Tag("long")
  @Test
  void nodesOfBothTransportsWaitAsTheyAreTold() {
    assertThat(bench("both-ways --transport shm,tcp --idle adaptive,busy-spin,backoff"))
        .contains("both-ways 16 B, 2 nodes ", "both-ways 16 B, 2 nodes, busy-spin ")
        .contains("both-ways 16 B, 2 nodes, backoff ");
  }

  @Test
  void encryptedStreamsDeliverWhatWasSent() {
    assertThat(bench("throughput both-ways --transport tcp --encrypted --against bare"))
        .contains("throughput 16 B", "both-ways 16 B, 2 nodes")
        .containsPattern("(?s)\ntcp .*\ntcp-encrypted .*\ntcp .*\ntcp-encrypted ");
  }
}
