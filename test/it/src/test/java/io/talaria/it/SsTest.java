// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.it.harness.Command;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The command {@code talaria ss} beside accelerated processes. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class SsTest {
  private static final Duration LIMIT = Duration.ofSeconds(40);
  private static final int SIGINT = 2;
  private static final String ENTER = "\u001b[?1049h";
  private static final String LEAVE = "\u001b[?1049l";

  @RegisterExtension final Lab lab = new Lab();

  private Exchange exchange;

  @BeforeEach
  void exchange() throws Exception {
    exchange = new Exchange(lab, Pair.BOTH).run().expectTransport();
  }

  private String[] arguments(String... more) {
    List<String> all = new ArrayList<>(List.of("ss", "--dir", lab.talariaDir().toString()));
    all.addAll(List.of(more));
    return all.toArray(new String[0]);
  }

  private List<JsonNode> selected(String... filters) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--json"));
    arguments.addAll(List.of(filters));
    JsonNode tree = Json.parse(Command.run(LIMIT, arguments(arguments.toArray(new String[0]))));
    List<JsonNode> all = new ArrayList<>();
    for (JsonNode process : tree.get("processes")) {
      process.get("connections").forEach(all::add);
    }
    return all;
  }

  private static List<String> roles(List<JsonNode> connections) {
    return connections.stream().map(connection -> connection.get("role").asText()).toList();
  }

  @Test
  void filtersSelectAndJsonHoldsWhatIsThere() throws Exception {
    assertThat(roles(selected())).containsExactlyInAnyOrder("listener", "accepted", "client");
    assertThat(roles(selected("--pid", Long.toString(exchange.client().pid()))))
        .containsExactly("client");
    assertThat(roles(selected("--state", "accelerated", "--program", "talk")))
        .containsExactlyInAnyOrder("accepted", "client");
    assertThat(selected("--transport", "tcp")).isEmpty();

    JsonNode client = selected("--role", "client", "--reason", "same-host").get(0);
    assertThat(client.get("transport").asText()).isEqualTo("shm");
    assertThat(client.get("outBytes").asLong())
        .isPositive()
        .isEqualTo(client.get("acceleratedOutBytes").asLong() + client.get("tcpOutBytes").asLong());
    String port = client.get("remote").asText().replaceFirst(".*:", "");
    assertThat(roles(selected("--port", port, "--address", "127.0.0.1")))
        .containsExactlyInAnyOrder("listener", "accepted", "client");
    assertThat(roles(selected("--port", port, "--role", "listener"))).containsExactly("listener");
    exchange.end();
  }

  @Test
  void theLiveViewSeesARateRiseAndFall() throws Exception {
    List<String> words = Command.words(arguments("--watch", "0.1", "--json", "--role", "client"));
    try (ChildProcess ss = ChildProcess.command(words.toArray()).start()) {
      awaitRate(ss, rate -> rate == 0, false);
      awaitRate(ss, rate -> rate > 0, true);
      awaitRate(ss, rate -> rate == 0, false);
      ss.signal("TERM");
      int unused = ss.awaitEnd(LIMIT);
    }
    exchange.end();
  }

  /** Reads a line for each refresh until the rates, both of which must be known, are so. */
  private void awaitRate(ChildProcess ss, LongPredicate expected, boolean talking)
      throws Exception {
    while (true) {
      if (talking) {
        exchange.server().send("again");
        exchange.client().send("again");
        exchange.server().await("talked");
        exchange.client().await("talked");
      }
      JsonNode tree = Json.parse(ss.awaitLine(".*", LIMIT).group());
      JsonNode connection = tree.get("processes").get(0).get("connections").get(0);
      if (!tree.get("seconds").isNull()
          && expected.test(connection.get("outBytesPerSecond").asLong())
          && expected.test(connection.get("writesPerSecond").asLong())
          && expected.test(tree.get("summary").get("inBytesPerSecond").asLong())) {
        return;
      }
    }
  }

  // ---- on a terminal

  /** Runs the command on a terminal of its own, all of whose output goes to a file. */
  private Process onTerminal(Path output, String... more) throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "no script of util-linux");
    String words =
        String.join(
            " ", Command.words(arguments(more)).stream().map(word -> "'" + word + "'").toList());
    ProcessBuilder builder =
        new ProcessBuilder("/usr/bin/script", "-qefc", "exec " + words, "/dev/null");
    builder.environment().put("TERM", "xterm");
    builder.environment().put("SHELL", "/bin/sh");
    return builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
  }

  private static String awaitText(Path output, String text) throws Exception {
    long start = System.nanoTime();
    while (true) {
      String so = Files.readString(output);
      if (so.contains(text)) {
        return so;
      }
      assertThat(System.nanoTime() - start).as(so).isLessThan(LIMIT.toNanos());
      Thread.sleep(20);
    }
  }

  @Test
  void theTerminalIsGivenBackAfterTheLastTable() throws Exception {
    Path output = lab.scratch().resolve("terminal");
    Process script = onTerminal(output, "--watch", "0.1", "--count", "3");
    assertThat(script.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    String shown = Files.readString(output);
    assertThat(script.exitValue()).as(shown).isZero();
    assertThat(shown).startsWith(ENTER).endsWith(LEAVE);
    assertThat(shown.split("every 0.1 s, sorted by rate", -1)).hasSize(4);
    assertThat(shown).contains("2 processes, 1 listener, 2 connections (2 shm)", "same-host");
    exchange.end();
  }

  @Test
  void theTerminalIsGivenBackWhenTheUserInterrupts() throws Exception {
    Path output = lab.scratch().resolve("terminal");
    Process script = onTerminal(output, "--watch");
    try {
      awaitText(output, "same-host");
      long pid;
      try (Stream<ProcessHandle> children = script.descendants()) {
        pid = children.findFirst().orElseThrow().pid();
      }
      ChildProcess unused = ChildProcess.command("kill", interrupt(pid), pid).run(LIMIT);
      assertThat(script.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(Files.readString(output)).startsWith(ENTER).endsWith(LEAVE);
    } finally {
      script.descendants().forEach(ProcessHandle::destroyForcibly);
      script.destroyForcibly();
    }
    exchange.end();
  }

  /** What ends a process as Ctrl-C does; where tests run in the background that is ignored. */
  private static String interrupt(long pid) throws IOException {
    String ignored =
        Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElseThrow();
    long mask = Long.parseUnsignedLong(ignored.substring("SigIgn:".length()).trim(), 16);
    return (mask & 1L << (SIGINT - 1)) == 0 ? "-INT" : "-TERM";
  }
}
