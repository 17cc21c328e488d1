// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.TalariaCommand;
import io.talaria.workloads.messages.wire.MessagesPattern;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
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

  /** All that a node does in ring and all-to-all it does in turning. */
  @Test
  void severalNodesDeliverWhatWasSent() {
    assertThat(bench("turning --nodes 3 --transport shm"))
        .contains("turning 16 B, 3 nodes", "\nshm ")
        .doesNotContain("netty");
  }

  @Test
  void severalNodesConnect() {
    assertThat(bench("connect --nodes 3 --transport tcp"))
        .contains("connect, 3 nodes", "\ntcp ")
        .doesNotContain("netty");
  }

  @Tag("long")
  @Test
  void severalNodesDeliverWhatWasSentInEachPattern() {
    String words = "both-ways all-to-all turning ring connect --nodes 3 --transport shm,tcp";
    assertThat(bench(words))
        .contains("both-ways 16 B, 2 nodes", "all-to-all 16 B, 3 nodes", "ring 16 B, 3 nodes")
        .contains("turning 16 B, 3 nodes", "connect, 3 nodes", "\nshm ", "\ntcp ")
        .doesNotContain("netty");
  }

  @Test
  void eachPatternHasItsTargets() {
    assertThat(targets(MessagesPattern.BOTH_WAYS, 2)).containsExactly(List.of(2), List.of(1));
    assertThat(targets(MessagesPattern.THROUGHPUT, 2)).containsExactly(List.of(2), List.of());
    assertThat(targets(MessagesPattern.RING, 3))
        .containsExactly(List.of(2), List.of(3), List.of(1));
    for (MessagesPattern each :
        new MessagesPattern[] {MessagesPattern.ALL_TO_ALL, MessagesPattern.TURNING}) {
      assertThat(targets(each, 3))
          .as("%s", each)
          .containsExactly(List.of(2, 3), List.of(3, 1), List.of(1, 2));
    }
    assertThat(targets(MessagesPattern.CONNECT, 3))
        .containsExactly(List.of(2, 3), List.of(3), List.of());
  }

  private static List<List<Integer>> targets(MessagesPattern pattern, int nodes) {
    return IntStream.rangeClosed(1, nodes)
        .mapToObj(id -> Arrays.stream(pattern.targets(id, nodes)).boxed().toList())
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "--threads 3 --dispatch ordered --handlers 2 --sizes 4, '4 B, 2 nodes, 3 threads, ordered, 2 handlers'",
    "--reuse, '16 B, 2 nodes, reused'"
  })
  void nodesSendAndReceiveAsTheyAreTold(String options, String label) {
    sendAndReceive(options, label);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "--dispatch concurrent --handlers 2, '16 B, 2 nodes, concurrent, 2 handlers'",
    "--dispatch virtual, '16 B, 2 nodes, virtual'"
  })
  void nodesSendAndReceiveInOtherWays(String options, String label) {
    sendAndReceive(options, label);
  }

  private static void sendAndReceive(String options, String label) {
    assertThat(bench("throughput --transport shm " + options))
        .contains("throughput " + label + " ")
        .contains("\nshm ");
  }

  @Tag("long")
  @Test
  void nodesSendArraysToEachOther() {
    assertThat(bench("both-ways --transport shm --sizes 4,65536"))
        .contains("both-ways 4 B, 2 nodes ", "both-ways 64 KiB, 2 nodes ");
  }

  @Test
  void nodesWaitAsTheyAreTold() {
    String words = "request --transport shm --idle adaptive,backoff --against bare";
    assertThat(bench(words))
        .contains("request 16 B ", "request 16 B, backoff ")
        .containsOnlyOnce("\nbare ");
    assertThat(bench("both-ways --transport shm --idle busy-spin"))
        .contains("both-ways 16 B, 2 nodes, busy-spin ");
  }

  @Test
  void severalThreadsMakeRequests() {
    assertThat(bench("request --threads 3 --transport shm,tcp --against bare"))
        .containsPattern("(?s)request 16 B, 3 threads .*\nshm .*\ntcp ")
        .doesNotContain("\nbare ");
  }

  @Tag("long")
  @Test
  void nodesOfBothTransportsWaitAsTheyAreTold() {
    String words = "request --transport shm,tcp --idle adaptive,busy-spin,backoff --against bare";
    assertThat(bench(words))
        .contains("request 16 B ", "request 16 B, busy-spin ", "request 16 B, backoff ")
        .containsOnlyOnce("\nbare ");
    assertThat(bench("both-ways --transport shm,tcp --idle adaptive,busy-spin,backoff"))
        .contains("both-ways 16 B, 2 nodes ", "both-ways 16 B, 2 nodes, busy-spin ")
        .contains("both-ways 16 B, 2 nodes, backoff ");
  }

  /** Arrays, so that both kinds of messages are seen in this class. */
  @Test
  void encryptedStreamsDeliverWhatWasSent() {
    String words = "throughput both-ways --transport tcp --encrypted --against bare --sizes 65536";
    assertThat(bench(words))
        .contains("throughput 64 KiB", "both-ways 64 KiB, 2 nodes")
        .containsPattern("(?s)\ntcp .*\ntcp-encrypted .*\ntcp .*\ntcp-encrypted ");
  }
}
