// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The live table. */
@Timeout(60)
class SsCommandTest {
  private static final long PID = ProcessHandle.current().pid();

  @TempDir Path dir;

  private final StringWriter err = new StringWriter();
  private int status;

  private String run(String... more) {
    StringWriter out = new StringWriter();
    String[] args = new String[more.length + 2];
    args[0] = "--dir";
    args[1] = dir.toString();
    System.arraycopy(more, 0, args, 2, more.length);
    status =
        new CommandLine(new SsCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(args);
    return out.toString();
  }

  private ProcessCounters busyProcess() {
    ProcessCounters counters = ProcessCounters.open(dir, Runnable::run);
    InetSocketAddress server = new InetSocketAddress("127.0.0.1", 9092);
    counters
        .connection(Role.LISTENER, new InetSocketAddress(9092), null)
        .mode(Mode.SHM, Reason.ANNOUNCED, "");
    ConnectionCounters shm =
        counters.connection(Role.ACCEPTED, server, new InetSocketAddress("127.0.0.1", 40001));
    shm.mode(Mode.SHM, Reason.SAME_HOST, "ring 64 KiB/32 KiB");
    shm.fabricIn(3 << 20);
    shm.fabricOut(100);
    shm.stalled();
    shm.bellSent();
    ConnectionCounters tcp =
        counters.connection(
            Role.CLIENT, new InetSocketAddress("::1", 50003), new InetSocketAddress("::1", 2181));
    tcp.mode(Mode.TCP, Reason.PEER_PLAIN, "");
    tcp.tcpOut(2048);
    counters.refused(Reason.PEER_PLAIN);
    return counters;
  }

  @Test
  void nobodyIsSaidInOneLine() {
    assertThat(run()).isEqualTo("no process with Talaria is found in " + dir + "\n");
    assertThat(status).isZero();
  }

  @Test
  void theTableShowsEachConnectionWithModeAndReason() {
    try (ProcessCounters counters = busyProcess()) {
      String[] lines = run().split("\n");
      assertThat(lines[0].trim().split(" {2,}"))
          .containsExactly(
              "pid",
              "program",
              "role",
              "local",
              "remote",
              "mode",
              "transport",
              "reason",
              "in",
              "out",
              "stalls",
              "bells",
              "age");
      assertThat(lines[2]).contains(PID + "  ").contains("listener  *:9092").contains("announced");
      assertThat(lines[3])
          .containsSubsequence(
              "accepted",
              "127.0.0.1:9092",
              "127.0.0.1:40001",
              "shm",
              "ring 64 KiB/32 KiB",
              "same-host",
              "3 MiB",
              "100 B",
              "1",
              "1/0");
      assertThat(lines[4])
          .containsSubsequence(
              "client", "[::1]:50003", "[::1]:2181", "tcp", "-", "peer-plain", "0 B", "2 KiB");
      assertThat(List.of(lines).subList(6, lines.length))
          .containsExactly(
              "1 process, 1 listener, 2 connections (1 tcp, 1 shm); in 3 MiB, out 2.1 KiB",
              "upgrades that did not come about so far: peer-plain 1",
              "peer-plain: " + Reason.PEER_PLAIN.sentence() + " " + Reason.PEER_PLAIN.cure());
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void aModeCanBeAskedFor() {
    try (ProcessCounters counters = busyProcess()) {
      assertThat(run("--mode", "SHM")).contains("same-host").doesNotContain("[::1]:2181");
      assertThat(run("--mode", "tcp", "--mode", "shm")).contains("same-host", "[::1]:2181");
      assertThat(run("--mode", "ucx"))
          .startsWith("1 process, 0 listeners, 0 connections; in 0 B, out 0 B\n");
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void aProcessCanBeAskedFor() {
    try (ProcessCounters counters = busyProcess()) {
      assertThat(run("--pid", Long.toString(PID))).contains("same-host");
      assertThat(run("--pid", "1")).startsWith("no process with Talaria is found");
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void jsonHoldsEverything() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      JsonNode tree = Json.parse(run("--json"));
      assertThat(tree.get("dir").asText()).isEqualTo(dir.toString());
      JsonNode process = tree.get("processes").get(0);
      assertThat(process.get("pid").asLong()).isEqualTo(PID);
      assertThat(process.get("liveness").asText()).isEqualTo("live");
      assertThat(process.get("totals").get("refused").get("peer-plain").asInt()).isEqualTo(1);
      assertThat(process.get("connections")).hasSize(3);
      JsonNode connection = process.get("connections").get(1);
      assertThat(connection.get("mode").asText()).isEqualTo("shm");
      assertThat(connection.get("reason").asText()).isEqualTo("same-host");
      assertThat(connection.get("remote").asText()).isEqualTo("127.0.0.1:40001");
      assertThat(connection.get("fabricInBytes").asLong()).isEqualTo(3 << 20);
      assertThat(connection.get("bellsSent").asLong()).isEqualTo(1);
      assertThat(process.get("connections").get(0).get("remote").isNull()).isTrue();
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void watchingRepeatsTheTableWithRates() {
    try (ProcessCounters counters = busyProcess()) {
      String out = run("--watch", "--count", "3", "--interval", "0.01");
      assertThat(status).isZero();
      assertThat(out.split("in/s", -1)).hasSize(4);
      assertThat(out.split("1 process, ", -1)).hasSize(4);
      String json = run("--watch", "--count", "2", "--interval", "0.01", "--json");
      assertThat(json.lines()).hasSize(2);
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void ratesAreBytesASecondBetweenTwoSnapshots() throws Exception {
    Filter all = new Filter(Set.of(), Set.of());
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
      connection.fabricIn(1000);
      Snapshot earlier = Snapshot.take(dir, all, 10_000);
      connection.fabricIn(5000);
      connection.tcpOut(300);
      ConnectionCounters fresh = counters.connection(Role.CLIENT, null, null);
      fresh.tcpIn(40);
      Snapshot later = Snapshot.take(dir, all, 12_000);

      Rates rates = Rates.between(earlier, later);

      Snapshot.Entry entry = later.processes().get(0);
      assertThat(rates.in(entry, entry.connections().get(0))).isEqualTo(2500);
      assertThat(rates.out(entry, entry.connections().get(0))).isEqualTo(150);
      assertThat(rates.in(entry, entry.connections().get(1))).isEqualTo(20);
      assertThat(Rates.between(later, later).in(entry, entry.connections().get(0))).isZero();
    }
  }

  @Test
  void aDamagedFileIsSaidAndHidesNobody() throws Exception {
    Files.write(dir.resolve("17-4.counters"), new byte[9]);
    try (ProcessCounters counters = busyProcess()) {
      assertThat(run())
          .contains("same-host")
          .contains("not read: " + dir.resolve("17-4.counters") + ": only 9 bytes");
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void badOptionsAreRefused() {
    run("--mode", "rdma");
    assertThat(status).isEqualTo(2);
    assertThat(err.toString()).contains("--mode rdma is none of tcp, shm, ucx");
    run("--interval", "0");
    assertThat(status).isEqualTo(2);
    assertThat(err.toString()).contains("--interval 0.0 is not within 0.01 and 86400");
    run("--pid", "x");
    assertThat(status).isEqualTo(2);
  }

  @Test
  void theHelpHasExamples() {
    assertThat(run("--help")).contains("talaria ss --watch").contains("Columns:");
    assertThat(status).isZero();
  }
}
