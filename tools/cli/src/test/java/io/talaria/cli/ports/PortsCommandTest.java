// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.Main;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code talaria ports} on a tree that stands for {@code /sys}. */
@Timeout(120)
class PortsCommandTest {
  @TempDir Path dir;
  private Tree tree;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void makeTree() {
    tree = Tree.in(dir.resolve("sys"));
  }

  private int execute(String... words) {
    List<String> all = new ArrayList<>(List.of("ports", "--sys", dir.resolve("sys").toString()));
    all.addAll(List.of(words));
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(all.toArray(String[]::new));
  }

  private String run(String... words) {
    assertThat(execute(words)).as(() -> err.toString()).isZero();
    return out.toString();
  }

  @Test
  void theTableHasPortsWithTheirStateRateBytesErrorsAndNotes() {
    List<String> lines = run().lines().toList();

    assertThat(lines.get(0).split(" {2,}"))
        .containsExactly(
            "port",
            "layer",
            "state",
            "rate",
            "interface",
            "lid",
            "in",
            "out",
            "packets in",
            "packets out",
            "errors",
            "waits",
            "note");
    assertThat(lines.get(2).split(" {2,}"))
        .containsExactly(
            "mlx5_0/1",
            "InfiniBand",
            "active",
            "100 Gb/s 4X EDR",
            "-",
            "31",
            "8 KiB",
            "4 KiB",
            "20",
            "10",
            "65.5 k",
            "77",
            "stuck: symbol_error");
    assertThat(lines.get(3)).startsWith("mlx5_1/1  RoCE ").contains("ens1f0");
    assertThat(lines.get(4)).startsWith("ens1f0    Ethernet").contains("300 B");
    assertThat(lines).hasSize(5);
  }

  @Test
  void loopbackIsShownWhenItIsAskedFor() {
    assertThat(run("--all")).contains("\nlo ");
    out.getBuffer().setLength(0);
    assertThat(run("lo").lines().filter(line -> line.startsWith("lo "))).hasSize(1);
  }

  @Test
  void onePortOfADeviceCanBeNamed() {
    assertThat(run("mlx5_1/1", "ens1f0")).contains("mlx5_1/1", "ens1f0").doesNotContain("mlx5_0");
  }

  @Test
  void everyCounterIsShownByItself() {
    assertThat(run("mlx5_0", "--counters").lines())
        .anyMatch(
            line -> line.matches("mlx5_0/1  symbol_error +counters  errors +65,535  events +stuck"))
        .anyMatch(line -> line.matches("mlx5_0/1  port_xmit_data +counters  data +4,096  bytes"));
  }

  @Test
  void ratesComeWithTheSecondLook() {
    String text = run("mlx5_0", "--watch", "0.1", "--count", "2", "--bits");
    assertThat(text.split("\n\n")).hasSize(2);
    assertThat(text.split("\n\n")[1]).contains("in/s", "0 bit");
  }

  @Test
  void jsonHasALineForEachLook() throws Exception {
    String text = run("--watch", "0.1", "--count", "2", "--json");
    List<String> lines = text.lines().toList();
    assertThat(lines).hasSize(2);
    JsonNode first = Json.parse(lines.get(0)).get("ports").get(0);
    assertThat(first.get("traffic").get("sentBytes").asLong()).isEqualTo(4096);
    assertThat(first.get("traffic").get("sentBytesPerSecond").isNull()).isTrue();
    JsonNode second = Json.parse(lines.get(1)).get("ports").get(0);
    assertThat(second.get("traffic").get("sentBytesPerSecond").asDouble()).isZero();
  }

  @Test
  void filesAreWrittenWhole() throws Exception {
    Path file = dir.resolve("talaria.prom");
    Files.writeString(file, "old");
    run("--prometheus", file.toString());
    assertThat(file).content().startsWith("# HELP ").endsWith("\n");
    Path json = dir.resolve("ports.json");
    run("--json", json.toString());
    assertThat(Json.parse(Files.readString(json)).get("version").asInt()).isEqualTo(1);
    assertThat(out.toString()).isEmpty();
    try (Stream<Path> files = Files.list(dir)) {
      assertThat(files)
          .extracting(path -> path.getFileName().toString())
          .containsExactlyInAnyOrder("sys", "talaria.prom", "ports.json");
    }
  }

  @Test
  void aFileThatCannotBeWrittenIsAFailure() {
    assertThat(execute("--json", dir.resolve("no/such/dir").toString())).isEqualTo(1);
    assertThat(err.toString()).startsWith("talaria: cannot write ");
  }

  @Test
  void whatIsNotHereIsStatus69() {
    assertThat(execute("mlx9_9")).isEqualTo(69);
    assertThat(err.toString()).startsWith("talaria: there is no port, device or node mlx9_9 here");
  }

  @Test
  void aHostWithoutPortsSaysSo() {
    StringWriter text = new StringWriter();
    int status =
        Main.commandLine()
            .setOut(new PrintWriter(text, true))
            .execute("ports", "--sys", dir.resolve("nothing").toString());
    assertThat(status).isZero();
    assertThat(text.toString()).isEqualTo("no port is found\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--watch 0              | --watch 0.0 is not within 0.1 and 86400",
        "--watch often          | Invalid value for option '--watch'",
        "--count 3              | --count says when --watch ends, and there is no --watch",
        "--watch 1 --count 0    | --count 0 is less than 1",
        "--json --serve 1       | --json, --prometheus and --serve exclude each other",
        "--serve 1 --watch      | --serve reads the ports at each request",
        "--serve nowhere        | --serve nowhere is no [HOST:]PORT",
        "--serve 70000          | --serve 70000 is no [HOST:]PORT with a port from 0 to 65535",
        "--counters --json      | --counters is for the table",
        "--bits --json          | --bits is for the table",
        "--bits --prometheus    | --bits is for the table",
        "--bits --serve 1       | --bits is for the table",
        "--tries 2              | --tries needs --fabric",
        "--fabric --tries 11    | --tries 11 is not within 1 and 10",
        "--fabric --queries 0   | --queries 0 is not within 1 and 100000",
        "--fabric --from a/b    | --from a/b is no DEVICE[/PORT], such as mlx5_0/1",
        "--fabric --from x/255  | --from's port 255 is not within 0 and 254",
        "reset                  | reset which ports?",
        "reset Switch1          | reset changes counters that others may watch, too: say --yes",
        "reset --everything x   | reset which ports?",
        "--colour               | Unknown option: '--colour'",
      })
  void wrongUsageIsStatusTwo(String words, String said) {
    assertThat(execute(words.split(" "))).isEqualTo(2);
    assertThat(err.toString()).startsWith("talaria: " + said);
  }

  @Test
  void metricsAreServedAndNothingElse() throws Exception {
    try (PortSource source = new LocalSource(dir.resolve("sys"), new PortFilter(List.of(), false));
        MetricsServer server = MetricsServer.start(new HostPort("127.0.0.1", 0), source)) {
      HttpClient client = HttpClient.newHttpClient();
      String at = "http://127.0.0.1:" + server.address().getPort();
      HttpResponse<String> metrics = get(client, at + "/metrics");
      assertThat(metrics.statusCode()).isEqualTo(200);
      assertThat(metrics.headers().firstValue("Content-Type"))
          .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain; version=0.0.4"));
      assertThat(metrics.body()).contains("talaria_port_transmit_bytes_total{device=\"mlx5_0\"");
      tree.write("class/infiniband/mlx5_0/ports/1/counters/link_downed", "3");
      assertThat(get(client, at + "/metrics").body())
          .contains("counter=\"link_downed\",source=\"counters\"} 3\n");
      assertThat(get(client, at + "/").statusCode()).isEqualTo(404);
      assertThat(get(client, at + "/metrics/../etc").statusCode()).isEqualTo(404);
      assertThat(
              client
                  .send(
                      HttpRequest.newBuilder(URI.create(at + "/metrics"))
                          .POST(HttpRequest.BodyPublishers.ofString("x"))
                          .build(),
                      HttpResponse.BodyHandlers.ofString())
                  .statusCode())
          .isEqualTo(405);
    }
  }

  @Test
  void halfARequestHoldsUpNoOther() throws Exception {
    try (PortSource source = new LocalSource(dir.resolve("sys"), new PortFilter(List.of(), false));
        MetricsServer server = MetricsServer.start(new HostPort("127.0.0.1", 0), source);
        Socket first = half(server);
        Socket second = half(server)) {
      String at = "http://127.0.0.1:" + server.address().getPort();
      for (int i = 0; i < 3; i++) {
        HttpResponse<String> metrics = get(HttpClient.newHttpClient(), at + "/metrics");
        assertThat(metrics.statusCode()).isEqualTo(200);
      }
      assertThat(first.isConnected() && second.isConnected()).isTrue();
    }
  }

  private static Socket half(MetricsServer server) throws Exception {
    Socket socket = new Socket(server.address().getAddress(), server.address().getPort());
    socket.getOutputStream().write("GET /met".getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static HttpResponse<String> get(HttpClient client, String uri) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(uri)).timeout(Duration.ofSeconds(30)).build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
