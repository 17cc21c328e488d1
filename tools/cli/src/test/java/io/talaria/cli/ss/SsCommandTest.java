// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.cli.harness.Terminal;
import io.talaria.cli.ss.snapshot.Filter;
import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.cli.ss.snapshot.SortKey;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The live table. */
@Timeout(180)
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
        .transport(NioTransport.SHM, Reason.ANNOUNCED, "");
    ConnectionCounters shm =
        counters.connection(Role.ACCEPTED, server, new InetSocketAddress("127.0.0.1", 40001));
    shm.transport(NioTransport.SHM, Reason.SAME_HOST, "ring 64 KiB/32 KiB");
    shm.acceleratedIn(3 << 20);
    shm.acceleratedOut(100);
    shm.stalled();
    shm.wakeupSent();
    ConnectionCounters tcp =
        counters.connection(
            Role.CLIENT, new InetSocketAddress("::1", 50003), new InetSocketAddress("::1", 2181));
    tcp.transport(NioTransport.TCP, Reason.PEER_NOT_ACCELERATED, "");
    tcp.tcpOut(2048);
    counters.refused(Reason.PEER_NOT_ACCELERATED);
    return counters;
  }

  @Test
  void nobodyIsSaidInOneLine() {
    assertThat(run()).isEqualTo("no process with Talaria is found in " + dir + "\n");
    assertThat(status).isZero();
  }

  @Test
  void saysWhatAProcessLacksForUcx() {
    String missing = "Export UCX_HANDLE_ERRORS=none.";
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      counters.ucxUnavailable(missing);
      counters.ucxUnavailable("Another.");
      counters
          .connection(
              Role.CLIENT, new InetSocketAddress("::1", 50003), new InetSocketAddress("::1", 2181))
          .transport(NioTransport.TCP, Reason.NO_UCX, "");
      assertThat(run()).contains("process " + PID + ": " + missing).doesNotContain("Another.");
    }
  }

  @Test
  void aProcessWithoutConnectionsIsNamed() {
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      String idle = "no NIO connection: " + PID + " ";
      assertThat(run()).startsWith("1 process, 0 listeners, 0 connections").contains(idle);
      assertThat(run("--pid", Long.toString(PID)))
          .contains(idle)
          .contains("java.net.Socket is Talaria's with talaria.sockets=true only");
      assertThat(run("--transport", "shm")).doesNotContain(idle);
      assertThat(counters.problem()).isNull();
    }
    try (ProcessCounters counters = busyProcess()) {
      assertThat(run()).doesNotContain("no NIO connection");
      assertThat(counters.problem()).isNull();
    }
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
              "transport",
              "detail",
              "reason",
              "in",
              "out",
              "stalls",
              "wakeups",
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
              "client",
              "[::1]:50003",
              "[::1]:2181",
              "tcp",
              "-",
              "peer-not-accelerated",
              "0 B",
              "2 KiB");
      assertThat(List.of(lines).subList(6, lines.length))
          .containsExactly(
              "1 process, 1 listener, 2 connections (1 tcp, 1 shm); in 3 MiB, out 2.1 KiB",
              "upgrades that were not made so far: peer-not-accelerated 1",
              "peer-not-accelerated: "
                  + Reason.PEER_NOT_ACCELERATED.sentence()
                  + " "
                  + Reason.PEER_NOT_ACCELERATED.hint());
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void aModeCanBeAskedFor() {
    try (ProcessCounters counters = busyProcess()) {
      assertThat(run("--transport", "SHM")).contains("same-host").doesNotContain("[::1]:2181");
      assertThat(run("--transport", "tcp", "--transport", "shm"))
          .contains("same-host", "[::1]:2181");
      assertThat(run("--transport", "ucx"))
          .isEqualTo("nothing matches: looked at 1 process in " + dir + "\n");
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void aProcessCanBeAskedFor() {
    try (ProcessCounters counters = busyProcess()) {
      assertThat(run("--pid", Long.toString(PID))).contains("same-host");
      assertThat(run("--pid", "1")).startsWith("nothing matches: looked at 1 process");
      assertThat(run("--program", "no such program")).startsWith("nothing matches");
      assertThat(counters.problem()).isNull();
    }
  }

  /** The rows of the table that the options select, by their role. */
  private List<String> roles(String... options) throws Exception {
    String[] all = Arrays.copyOf(options, options.length + 1);
    all[options.length] = "--json";
    JsonNode processes = Json.parse(run(all)).get("processes");
    List<String> roles = new ArrayList<>();
    for (JsonNode process : processes) {
      for (JsonNode connection : process.get("connections")) {
        roles.add(connection.get("role").asText());
      }
    }
    return roles;
  }

  @Test
  void everyFilterSelects() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      assertThat(roles()).containsExactly("listener", "accepted", "client");
      assertThat(roles("--port", "9092")).containsExactly("listener", "accepted");
      assertThat(roles("--port", "40001,2181")).containsExactly("accepted", "client");
      assertThat(roles("--address", "::1")).containsExactly("client");
      assertThat(roles("--address", "127.0.0.1", "--address", "0:0::1"))
          .containsExactly("accepted", "client");
      assertThat(roles("--reason", "peer-not-accelerated")).containsExactly("client");
      assertThat(roles("--role", "listener,client")).containsExactly("listener", "client");
      assertThat(roles("--state", "not-accelerated")).containsExactly("client");
      assertThat(roles("--state", "accelerated")).containsExactly("accepted");
      assertThat(roles("--state", "listening")).containsExactly("listener");
      assertThat(roles("--state", "negotiating")).isEmpty();
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void filtersTogetherSelectWhatFitsAll() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      assertThat(roles("--port", "9092", "--role", "accepted")).containsExactly("accepted");
      assertThat(roles("--port", "9092", "--role", "accepted", "--transport", "tcp")).isEmpty();
      assertThat(roles("--pid", PID + ",1", "--transport", "tcp,shm", "--address", "::1"))
          .containsExactly("client");
      String program = Json.parse(run("--json")).get("processes").get(0).get("program").asText();
      String part = program.substring(1).toUpperCase(Locale.ROOT);
      assertThat(roles("--program", part, "--role", "client")).containsExactly("client");
      assertThat(counters.problem()).isNull();
    }
  }

  private List<String> rows(String... options) {
    return run(options)
        .lines()
        .filter(line -> line.matches(" *[0-9]+  .*(listener|accepted|client).*"))
        .map(line -> line.replaceFirst(".*(listener|accepted|client).*", "$1"))
        .toList();
  }

  @Test
  void rowsComeInTheOrderAskedFor() throws Exception {
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      counters.connection(Role.LISTENER, new InetSocketAddress(1), null);
      ConnectionCounters accepted = counters.connection(Role.ACCEPTED, null, null);
      accepted.acceleratedIn(10);
      accepted.wakeupSent();
      ConnectionCounters client = counters.connection(Role.CLIENT, null, null);
      client.tcpOut(20);
      client.stalled();
      assertThat(rows()).containsExactly("listener", "accepted", "client");
      assertThat(rows("--sort", "bytes")).containsExactly("client", "accepted", "listener");
      assertThat(rows("--sort", "STALLS")).containsExactly("client", "listener", "accepted");
      assertThat(rows("--sort", "wakeups")).containsExactly("accepted", "listener", "client");
      assertThat(rows("--sort", "age")).startsWith("listener");
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
      assertThat(process.get("totals").get("refused").get("peer-not-accelerated").asInt())
          .isEqualTo(1);
      assertThat(process.get("connections")).hasSize(3);
      JsonNode connection = process.get("connections").get(1);
      assertThat(connection.get("transport").asText()).isEqualTo("shm");
      assertThat(connection.get("reason").asText()).isEqualTo("same-host");
      assertThat(connection.get("remote").asText()).isEqualTo("127.0.0.1:40001");
      assertThat(connection.get("acceleratedInBytes").asLong()).isEqualTo(3 << 20);
      assertThat(connection.get("wakeupsSent").asLong()).isEqualTo(1);
      assertThat(process.get("connections").get(0).get("remote").isNull()).isTrue();
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void prometheusHasSumsAndNoSingleConnection() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      String text = run("--prometheus");
      assertThat(text)
          .containsPattern("talaria_process_info\\{pid=\"" + PID + "\",program=\".+\",.*} 1\n")
          .containsPattern(
              "talaria_connections\\{.*role=\"accepted\",transport=\"shm\",reason=\"same-host\"} 1\n")
          .containsPattern(
              "talaria_connections\\{.*role=\"client\",transport=\"tcp\",reason=\"peer-not-accelerated\"} 1\n")
          .containsPattern("talaria_refused_total\\{.*reason=\"peer-not-accelerated\"} 1\n")
          .containsPattern(
              "talaria_read_bytes_total\\{.*transport=\"accelerated\"} " + (3 << 20) + "\n")
          .containsPattern("talaria_written_bytes_total\\{.*transport=\"tcp\"} 2048\n")
          .containsPattern("talaria_stalls_total\\{.*} 1\n")
          .contains("talaria_unreadable_files{dir=\"" + dir + "\"} 0\n")
          .doesNotContain("40001");
      assertThat(text.lines())
          .allMatch(
              line -> line.matches("# (HELP|TYPE) talaria_\\w+ .+|talaria_\\w+\\{.+} \\d+"), text);
      assertThat(run("--prometheus", "--reason", "no-offer")).doesNotContain("{pid=");
      Path file = dir.resolve("talaria.prom");
      assertThat(run("--watch", "0.01", "--count", "2", "--prometheus", file.toString())).isEmpty();
      assertThat(file).content().contains("talaria_stalls_total{");
      assertThat(counters.problem()).isNull();
    }
  }

  /** The textfile collector drops a whole file that has the same series twice. */
  @Test
  void processesOfSeveralContainersHaveSeriesOfTheirOwn() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      Snapshot.Entry one = Snapshot.take(dir, Filter.ALL, 0).processes().get(0);
      List<Snapshot.Entry> all =
          List.of(one, foreign(one, 101, 7), foreign(one, 102, 7), foreign(one, 102, 8));
      String text = SsPrometheus.of(new Snapshot(dir, 0, all, 0, List.of()));
      assertThat(text.lines().filter(line -> !line.startsWith("#")))
          .extracting(line -> line.substring(0, line.lastIndexOf(' ')))
          .isNotEmpty()
          .doesNotHaveDuplicates();
      assertThat(text)
          .containsPattern("talaria_stalls_total\\{.*,pid_namespace=\"102\",start_ticks=\"8\"} 1\n")
          .containsPattern("talaria_stalls_total\\{pid=\"" + PID + "\",program=\"[^\"]+\"} 1\n");
      assertThat(counters.problem()).isNull();
    }
  }

  /** The same process, of another pid namespace. */
  private static Snapshot.Entry foreign(Snapshot.Entry one, long namespace, long startTicks) {
    ProcessInfo process = one.process();
    return new Snapshot.Entry(
        new ProcessInfo(
            process.file(),
            process.pid(),
            startTicks,
            namespace,
            process.bootId(),
            Liveness.OTHER_NAMESPACE,
            process.openedAtMs(),
            process.talariaVersion(),
            process.javaVersion(),
            process.program(),
            process.command(),
            process.ucxUnavailableReason(),
            process.totals(),
            process.connections(),
            process.unlisted(),
            process.damaged()),
        one.connections());
  }

  /** As docs/seeing.md lists them. */
  @Test
  void everyMetricIsDescribed() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      List<String> metrics =
          run("--prometheus")
              .lines()
              .filter(line -> line.startsWith("# TYPE "))
              .map(line -> line.split(" ")[2] + ": " + line.split(" ")[3])
              .toList();
      List<String> documented =
          Files.readAllLines(Path.of("..", "..", "docs", "seeing.md")).stream()
              .filter(line -> line.startsWith("| `talaria_"))
              .map(line -> line.split("\\|"))
              .map(cells -> cells[1].trim().replace("`", "") + ": " + cells[2].trim())
              .toList();
      assertThat(documented).isEqualTo(metrics);
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void watchingRepeatsTheTableWithRates() {
    try (ProcessCounters counters = busyProcess()) {
      String out = run("--watch", "0.01", "--count", "3");
      assertThat(status).isZero();
      assertThat(out.split(" in/s", -1)).hasSize(4);
      assertThat(out).contains("; now in 0 B/s, out 0 B/s, 0 stalls/s\n");
      assertThat(out.split("1 process, ", -1)).hasSize(4);
      String json = run("-w", "0.01", "--count", "2", "--json");
      assertThat(json.lines()).hasSize(2);
      assertThat(counters.problem()).isNull();
    }
  }

  @Test
  void ratesAreOfASecondBetweenTwoSnapshots() throws Exception {
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
      connection.acceleratedIn(1000);
      Snapshot earlier = Snapshot.take(dir, Filter.ALL, 10_000);
      connection.acceleratedIn(5000);
      connection.tcpIn(0);
      connection.tcpOut(300);
      connection.tcpOut(0);
      connection.stalled();
      connection.stalled();
      ConnectionCounters fresh = counters.connection(Role.CLIENT, null, null);
      fresh.tcpIn(40);
      Snapshot later = Snapshot.take(dir, Filter.ALL, 12_000);

      Rates rates = Rates.between(earlier, later);

      Snapshot.Line old = later.lines().get(0);
      assertThat(rates.seconds()).isEqualTo(2);
      assertThat(rates.in(old)).isEqualTo(2500);
      assertThat(rates.out(old)).isEqualTo(150);
      assertThat(rates.reads(old)).isEqualTo(1);
      assertThat(rates.writes(old)).isEqualTo(1);
      assertThat(rates.stalls(old)).isEqualTo(1);
      assertThat(rates.in(later.lines().get(1))).isEqualTo(20);
      assertThat(Rates.between(later, later).in(old)).isZero();
      assertThat(SortKey.RATE.sorted(later.lines().reversed(), rates)).startsWith(old);

      JsonNode tree = Json.parse(Json.line(SsJson.tree(later, rates)));
      assertThat(tree.get("seconds").asDouble()).isEqualTo(2);
      assertThat(tree.get("summary").get("inBytesPerSecond").asLong()).isEqualTo(2520);
      JsonNode shown = tree.get("processes").get(0).get("connections").get(0);
      assertThat(shown.get("outBytesPerSecond").asLong()).isEqualTo(150);
      assertThat(shown.get("stallsPerSecond").asLong()).isEqualTo(1);
      JsonNode first = Json.parse(Json.line(SsJson.tree(later, Rates.between(later, later))));
      assertThat(first.get("seconds").isNull()).isTrue();
    }
  }

  /** As with a filter, when the connection is upgraded: what it did before was not just now. */
  @Test
  void anOldConnectionThatIsNewInTheTableHasNoRate() throws Exception {
    Filter shm =
        new Filter(
            Filter.ALL.processes(),
            Filter.ALL.ends(),
            new Filter.Kinds(Set.of(NioTransport.SHM), Set.of(), Set.of(), Set.of()));
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
      connection.transport(NioTransport.TCP, Reason.PENDING, "");
      connection.tcpIn(1 << 30);
      long afterItMs = System.currentTimeMillis() + 1000;
      Snapshot earlier = Snapshot.take(dir, shm, afterItMs);
      connection.transport(NioTransport.SHM, Reason.SAME_HOST, "");
      Snapshot second = Snapshot.take(dir, shm, afterItMs + 1000);
      connection.acceleratedIn(5000);
      Snapshot third = Snapshot.take(dir, shm, afterItMs + 2000);

      assertThat(earlier.lines()).isEmpty();
      assertThat(Rates.between(earlier, second).in(second.lines().get(0))).isZero();
      assertThat(Rates.between(second, third).in(third.lines().get(0))).isEqualTo(5000);
    }
  }

  @Test
  void aScreenHoldsTheSumsAndAsManyRowsAndColumnsAsFit() throws Exception {
    try (ProcessCounters counters = busyProcess()) {
      for (int i = 0; i < 40; i++) {
        counters.connection(Role.CLIENT, null, new InetSocketAddress("127.0.0.1", 7000 + i));
      }
      Snapshot now = Snapshot.take(dir, Filter.ALL, System.currentTimeMillis());
      SsText text = new SsText(now, Rates.between(now, now), SortKey.BYTES);

      List<String> small = text.screen("2 s", new Terminal.Size(16, 80));
      assertThat(small).hasSize(16);
      assertThat(small.get(0)).contains("every 2 s, sorted by bytes");
      assertThat(small.get(1)).startsWith("1 process, 1 listener, 42 connections (41 tcp, 1 shm)");
      assertThat(small.get(2)).startsWith("  ").endsWith(" stalls/s"); // what did not fit above
      assertThat(small.get(5)).contains("remote", "transport", "reason", "in/s", "out/s");
      assertThat(small.get(5)).doesNotContain("detail", "wakeups");
      assertThat(small.get(7)).contains("same-host");
      assertThat(small.get(15)).isEqualTo("… and 35 more");
      assertThat(small).allMatch(line -> line.length() <= 80);

      List<String> large = text.screen("2 s", new Terminal.Size(100, 300));
      assertThat(large.get(4)).contains("detail", "writes/s", "wakeups", "age");
      assertThat(large).anyMatch(line -> line.startsWith("peer-not-accelerated: "));
      assertThat(large).noneMatch(line -> line.contains(" more"));

      assertThat(text.screen("2 s", new Terminal.Size(2, 10))).hasSize(2);
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

  private void refused(String message, String... options) {
    run(options);
    assertThat(status).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void badOptionsAreRefused() {
    run("--transport", "rdma");
    assertThat(status).isEqualTo(2);
    assertThat(err.toString()).contains("--transport rdma is none of tcp, shm, ucx");
    refused("--watch 0.0 is not within 0.01 and 86400", "--watch", "0");
    refused("--count says when --watch ends, and there is no --watch", "--count", "2");
    refused("--count 0 is less than 1", "--watch", "--count", "0");
    refused("--json and --prometheus exclude each other", "--json", "--prometheus");
    refused("--role owner is none of client, accepted, listener", "--role", "owner");
    refused(
        "--state idle is none of listening, negotiating, accelerated, not-accelerated",
        "--state",
        "idle");
    refused("--reason plain is none of negotiating, same-host, announced", "--reason", "plain");
    refused("--port 65536 is not within 1 and 65535", "--port", "65536");
    refused("--address localhost is no IP address, such as 127.0.0.1", "--address", "localhost");
    refused("--sort size is none of process, bytes, rate, stalls, wakeups, age", "--sort", "size");
    refused("--sort is for the table", "--sort", "bytes", "--json");
    refused("--sort is for the table", "--sort", "bytes", "--watch", "--prometheus");
    run("--pid", "x");
    assertThat(status).isEqualTo(2);
  }

  @Test
  void theHelpHasExamples() {
    assertThat(run("--help")).contains("talaria ss --watch").contains("Columns:");
    assertThat(status).isZero();
  }
}
