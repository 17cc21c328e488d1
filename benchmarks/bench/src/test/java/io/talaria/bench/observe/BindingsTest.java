// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.engine.MeasuringJvm;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.result.Row;
import io.talaria.cli.doctor.checks.RdmaDevices;
import io.talaria.ucx.Ucx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every binding on every transport, between two JVMs, in all patterns it can do. */
@Timeout(180)
class BindingsTest {
  private static final String ENDLESS =
      """
      {"bindings": ["nio"], "transports": ["tcp"], "patterns": ["pingpong"], "sizes": [16],
       "operations": {"latency": 1000000000}, "seconds": 600, "warmUpSeconds": 0}
      """;

  private static String plan(String binding, String transport, String patterns, String more) {
    boolean direct = binding.contains("ucx") || binding.startsWith("verbs");
    String transports = direct ? "" : "\"transports\": [\"" + transport + "\"], ";
    return """
        {"bindings": ["%s"], %s"patterns": [%s], "sizes": [1, 70000],
         "connections": [2], "operations": {"throughput": 200, "latency": 100},
         "seconds": 0.05, "warmUpSeconds": 0.01, "ucxTransports": "posix,self",
         "limitSeconds": 60%s}
        """
        .formatted(binding, transports, patterns, more);
  }

  @ParameterizedTest
  @CsvSource({"net, shm", "nio, tcp", "nio, shm", "nio-select, shm", "nio-spin, shm", "netty, shm"})
  void measuresSockets(String binding, String transport) throws Exception {
    measure(binding, transport, "\"throughput\", \"bidirectional\", \"pingpong\"", 3);
  }

  @ParameterizedTest
  @Tag("long")
  @CsvSource({"net, tcp", "nio-select, tcp", "nio-spin, tcp", "netty, tcp"})
  void measuresOtherSocketsOfTheJdk(String binding, String transport) throws Exception {
    measuresSockets(binding, transport);
  }

  @ParameterizedTest
  @CsvSource("nio, ucx")
  void measuresSocketsOnUcx(String binding, String transport) throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    measure(binding, transport, "\"throughput\", \"bidirectional\", \"pingpong\"", 3);
  }

  @Test
  @Tag("long")
  void measuresNettyOnUcx() throws Exception {
    measuresSocketsOnUcx("netty", "ucx");
  }

  @ParameterizedTest
  @CsvSource({"ucx-stream", "ucx-stream-data", "ucx-tag", "ucx-tag-sync", "ucx-am", "jucx"})
  void measuresMessagesOfUcx(String binding) throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    measure(binding, "tcp", "\"throughput\", \"bidirectional\", \"pingpong\"", 3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ucx-put | \"throughput\", \"access\", \"pingpong\" | 3",
        "ucx-get | \"throughput\", \"access\" | 2"
      })
  void measuresMemoryAccessOfUcx(String binding, String patterns, int count) throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    measure(binding, "tcp", patterns, count);
  }

  @Test
  void measuresAtomicsOfUcx() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    String json = plan("ucx-fetch-add", "tcp", "\"throughput\", \"access\"", "");
    measure(json.replace("[1, 70000]", "[1, 4, 8]"), 2);
  }

  /** By TCP a side may be done while the other still waits for what its worker does. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ucx-tag | \"throughput\", \"bidirectional\", \"pingpong\" | 3",
        "ucx-am | \"throughput\", \"bidirectional\", \"pingpong\" | 3"
      })
  void measuresUcxByTcp(String binding, String patterns, int count) throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    measure(plan(binding, "tcp", patterns, "").replace("posix,self", "tcp"), count);
  }

  @ParameterizedTest
  @Tag("long")
  @CsvSource(
      delimiter = '|',
      value = {
        "ucx-put | \"throughput\", \"access\", \"pingpong\" | 3",
        "ucx-stream | \"throughput\", \"bidirectional\", \"pingpong\" | 3",
        "jucx | \"throughput\", \"bidirectional\", \"pingpong\" | 3",
        "ucx-get | \"throughput\", \"access\" | 2"
      })
  void measuresOtherOperationsOfUcxByTcp(String binding, String patterns, int count)
      throws Exception {
    measuresUcxByTcp(binding, patterns, count);
  }

  @ParameterizedTest
  @CsvSource({"net, tcp", "nio-select, shm"})
  void allProcessesExchangeMessagesWithAllOthers(String binding, String transport)
      throws Exception {
    allToAll(plan(binding, transport, "\"all-to-all\"", ", \"processes\": [2, 3]"));
  }

  @Test
  @Tag("long")
  void allProcessesExchangeMessagesWithAllOthersByNetty() throws Exception {
    allProcessesExchangeMessagesWithAllOthers("netty", "shm");
  }

  @Test
  void allProcessesExchangeMessagesWithAllOthersByUcx() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    allToAll(plan("ucx-tag", "tcp", "\"all-to-all\"", ", \"processes\": [2, 3]"));
  }

  @Test
  @Tag("long")
  void allProcessesExchangeMessagesWithAllOthersByUcxOverTcp() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    String json = plan("ucx-am", "tcp", "\"all-to-all\"", ", \"processes\": [2, 3]");
    allToAll(json.replace("posix,self", "tcp"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"verbs-msg", "verbs-write", "verbs-read", "verbs-net"})
  void withoutADeviceVerbsFailWithTheSentenceOfTheDoctor(String binding) throws Exception {
    // Not asked of verbs: what this JVM loads is for other tests to choose.
    assumeFalse(Files.isDirectory(Path.of("/sys/class/infiniband")), "there may be a device");
    try (Hosts hosts = new Hosts()) {
      assertThat(hosts.run(plan(binding, "tcp", "\"throughput\"", ""))).isFalse();
      assertThat(hosts.rows).isEmpty();
      assertThat(hosts.failures)
          .isNotEmpty()
          .allMatch(failure -> failure.contains(RdmaDevices.missing()));
    }
  }

  private static void allToAll(String json) throws Exception {
    try (Hosts hosts = new Hosts()) {
      assertThat(hosts.run(json)).as(() -> String.join("\n", hosts.failures)).isTrue();
      assertThat(hosts.rows)
          .extracting(row -> row.measured().processes())
          .containsExactly(2, 2, 3, 3);
      for (Row row : hosts.rows) {
        int processes = row.measured().processes();
        assertThat(row.processNs()).hasSize(processes).allMatch(ns -> ns > 0);
        // Two connections between each pair, and each way a message in each operation.
        long pairs = (long) processes * (processes - 1);
        long each = row.operations() / pairs;
        assertThat(each).as(row.tag()).isBetween(10L, 200L);
        assertThat(row.messages()).isEqualTo(2 * each * pairs);
        assertThat(row.fastestMessagesPerSecond())
            .isGreaterThanOrEqualTo(row.slowestMessagesPerSecond());
        if (row.implementation().onTalaria()) {
          assertThat(row.transports()).startsWith(2 * (processes - 1) + " shm");
        }
      }
    }
  }

  @Test
  void connectionsAreMadeAnewForEachNumberOfThem() throws Exception {
    try (Hosts hosts = new Hosts()) {
      String json = plan("netty", "shm", "\"pingpong\"", "").replace("[2]", "[1, 3]");
      assertThat(hosts.run(json)).as(() -> String.join("\n", hosts.failures)).isTrue();
      assertThat(hosts.rows)
          .extracting(row -> row.measured().connections())
          .containsExactly(1, 1, 3, 3);
    }
  }

  private static void measure(String binding, String transport, String patterns, int count)
      throws Exception {
    boolean sockets = !binding.contains("ucx");
    String json = plan(binding, transport, patterns, sockets ? ", \"rates\": [0, 2000]" : "");
    measure(json, sockets ? count + 1 : count);
  }

  private static void measure(String json, int patterns) throws Exception {
    try (Hosts hosts = new Hosts()) {
      assertThat(hosts.run(json)).as(() -> String.join("\n", hosts.failures)).isTrue();
      check(hosts.rows, patterns);
    }
  }

  private static void check(List<Row> rows, int patterns) {
    assertThat(rows).hasSize(patterns * 2);
    for (Row row : rows) {
      long each = row.operations() / row.measured().connections();
      assertThat(each).as(row.tag()).isBetween(10L, 200L);
      assertThat(row.elapsedNs()).isPositive();
      Pattern pattern = row.measured().pattern();
      if (pattern.latency()) {
        assertThat(row.sinceBegun().getTotalCount()).as(row.tag()).isEqualTo(row.operations());
      } else {
        assertThat(row.sinceBegun()).isNull();
      }
      assertThat(row.sinceDue() != null).isEqualTo(row.measured().ratePerSecond() > 0);
      if (row.implementation().onTalaria()) {
        assertThat(row.transports()).contains(row.implementation().transport().label());
      }
    }
    List<String> tags = new ArrayList<>(rows.stream().map(Row::tag).toList());
    assertThat(tags).doesNotHaveDuplicates();
  }

  @Test
  void aMeasuringJvmThatDiesEndsTheCaseAndTheNextImplementationGoesOn() throws Exception {
    try (Hosts hosts = new Hosts()) {
      Thread killer = Thread.ofPlatform().daemon().start(BindingsTest::killAServer);
      assertThat(hosts.run(ENDLESS)).isFalse();
      killer.join(Duration.ofSeconds(10));
      assertThat(hosts.failures).hasSize(1);
      assertThat(hosts.failures.getFirst()).startsWith("nio tcp, pingpong, 16 B, 1 connection: ");
      String quick = ENDLESS.replace("\"seconds\": 600", "\"seconds\": 0.01");
      assertThat(hosts.run(quick)).isTrue();
      assertThat(hosts.rows).hasSize(1);
    }
  }

  /** Kills one of the measuring JVMs once both have worked for longer than any start takes. */
  private static void killAServer() {
    try {
      while (true) {
        List<ProcessHandle> children =
            ProcessHandle.current().children().filter(BindingsTest::measures).toList();
        if (children.stream().filter(BindingsTest::hasWorked).count() == 2) {
          children.getFirst().destroyForcibly();
          return;
        }
        Thread.sleep(100);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** By its processor time, which goes on more slowly, as its start does, where cores are busy. */
  private static boolean hasWorked(ProcessHandle child) {
    Duration worked = child.info().totalCpuDuration().orElse(Duration.ZERO);
    return worked.compareTo(Duration.ofSeconds(3)) > 0;
  }

  private static boolean measures(ProcessHandle child) {
    String main = MeasuringJvm.class.getName();
    return child.info().arguments().map(words -> List.of(words).contains(main)).orElse(false);
  }
}
