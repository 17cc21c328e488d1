// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.plan.PlanReader;
import io.talaria.cli.Subcommand;
import io.talaria.cli.harness.Json;
import io.talaria.ucx.Ucx;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openucx.jucx.NativeLibs;
import picocli.CommandLine;

@Timeout(120)
class ObserveCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  @TempDir private Path folder;

  private int run(String... words) {
    return new CommandLine(new ObserveCommand())
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(words);
  }

  @Test
  void theCommandLineFindsTheCommand() {
    assertThat(ServiceLoader.load(Subcommand.class))
        .hasAtLeastOneElementOfType(ObserveCommand.class);
  }

  @Test
  void helpHasExamples() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("Examples:", "talaria observe --listen", "Ctrl-C");
    PlanReader.SETS.forEach(set -> assertThat(out.toString()).contains(set));
  }

  @Test
  void checkSaysWhatASetHolds() {
    assertThat(run("--check", "scaling")).isZero();
    assertThat(out.toString()).contains("nio tcp: 20 cases", "120 cases, 3 repetitions");
  }

  /** What the papers measured, in the time of a long break. */
  @Test
  void theSetPaperSaysThatItTakesLessThanAnHour() {
    assertThat(run("--check", "paper")).isZero();
    assertThat(out.toString()).containsPattern("1239 cases, 5 repetitions, about [45]\\d min");
  }

  @Test
  void wrongUsageIsTold() {
    assertThat(run("--remote", "localhost")).isEqualTo(2);
    assertThat(err.toString()).contains("--remote needs --token");
    assertThat(run("--token", "x")).isEqualTo(2);
    assertThat(err.toString()).contains("--token needs --remote or --listen");
    assertThat(run("--listen", "--remote", "x", "--token", "y")).isEqualTo(2);
    assertThat(run("--listen", ":70000")).isEqualTo(2);
    assertThat(run("--jucx", folder.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("is no jar of JUCX (org.openucx:jucx)");
    assertThat(run("--run", "x")).isEqualTo(2);
    assertThat(err.toString()).contains("--run needs --report");
    assertThat(run("--report", folder.toString())).isEqualTo(2);
    assertThat(err.toString())
        .contains(folder + " holds no results; name the folder of an earlier run");
    assertThat(run(folder.resolve("none.json").toString())).isEqualTo(2);
    assertThat(err.toString()).contains("there is no such file");
  }

  @Test
  void aFolderThatCannotBeWrittenIsToldWithTheReason() throws Exception {
    Path file = Files.createFile(folder.resolve("file"));
    assertThat(run("--out", file.toString())).isEqualTo(1);
    assertThat(err.toString())
        .contains("cannot write in " + file + ": " + file + " is not a folder");
  }

  @Test
  void jucxIsTakenFromItsJar() throws Exception {
    assumeTrue(Ucx.unavailableReason().isEmpty(), "UCX is not installed");
    String jar = NativeLibs.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    Path plan =
        Files.writeString(
            folder.resolve("jucx.json"),
            """
            {"bindings": ["jucx"], "patterns": ["pingpong"], "sizes": [8],
             "operations": {"latency": 100}, "seconds": 0.02, "warmUpSeconds": 0,
             "ucxTransports": "posix,self"}
            """);
    String[] words = {plan.toString(), "--out", folder.toString(), "--no-pin"};
    String before = System.getProperty("java.class.path");
    // The measuring JVMs are given what this says.
    System.setProperty("java.class.path", before.replace(jar, ""));
    try {
      assertThat(run(words)).isEqualTo(1);
      assertThat(out.toString())
          .contains("JUCX is not on the class path; fetch the jar")
          .containsPattern("(?m)^pingpong, 8 B, 1 connection +jucx.* failed *$");
      assertThat(missing(folder)).contains("JUCX is not on the class path");
      List<String> more = new ArrayList<>(List.of(words));
      more.addAll(List.of("--jucx", jar));
      assertThat(run(more.toArray(String[]::new))).isZero();
    } finally {
      System.setProperty("java.class.path", before);
    }
  }

  /** Returns the first cause in the only JSON of results in a folder. */
  private static String missing(Path results) throws Exception {
    try (Stream<Path> files = Files.list(results)) {
      Path json =
          files
              .filter(file -> file.getFileName().toString().matches(".*-.*\\.json"))
              .findAny()
              .orElseThrow();
      return Json.parse(Files.readString(json)).path("missing").path(0).path("cause").asText();
    }
  }

  @Test
  void aRunLeavesTableHistogramsAndReport() throws Exception {
    Path plan =
        Files.writeString(
            folder.resolve("plan.json"),
            """
            {"name": "small", "bindings": ["nio"], "transports": ["tcp"],
             "patterns": ["throughput", "pingpong"], "sizes": [8, 64],
             "operations": {"throughput": 100, "latency": 100}, "seconds": 0.02,
             "warmUpSeconds": 0, "repetitions": 2}
            """);
    Path results = folder.resolve("results");
    assertThat(run(plan.toString(), "--out", results.toString(), "--no-pin")).isZero();
    assertThat(Files.readAllLines(results.resolve("results.csv"))).hasSize(1 + 8);
    try (Stream<Path> files = Files.list(results)) {
      List<String> names = files.map(file -> file.getFileName().toString()).toList();
      assertThat(names).hasSize(4).anyMatch(name -> name.matches("small-.*\\.html"));
      assertThat(names).anyMatch(name -> name.matches("small-.*\\.hlog"));
      String name = names.stream().filter(one -> one.endsWith(".json")).findAny().orElseThrow();
      JsonNode result = Json.parse(Files.readString(results.resolve(name)));
      assertThat(result.get("format").asText()).isEqualTo("talaria-observe-3");
      assertThat(result.get("options").get("plan").get("bindings").get(0).asText())
          .isEqualTo("nio");
      assertThat(result.get("runs")).hasSize(8);
      assertThat(result.get("runs").get(0).get("found").get("size_bytes").asInt()).isEqualTo(8);
      assertThat(result.get("times")).hasSize(4);
      assertThat(result.get("measures").get(0).get("iterations").get("nio tcp")).hasSize(2);
    }
    assertThat(err.toString())
        .contains("small: 4 cases, 2 repetitions, about ")
        .contains("throughput, 8 B, 1 connection, nio tcp, iteration 1 of 2");
    // test/rdma-test/checks.list looks for such a row.
    assertThat(out.toString())
        .startsWith("Case ")
        .containsPattern("(?m)^throughput, 64 B, 1 connection +nio tcp +\\d.*/s .*\\d *$")
        .containsPattern("(?m)^pingpong, 8 B, 1 connection +nio tcp +\\d.*/s .*[mµn]s *$")
        .containsPattern("(?s)nio tcp.*\nreport  ");
    // The report needs nothing but the results.
    try (Stream<Path> files = Files.list(results)) {
      for (Path file : files.filter(file -> !file.toString().endsWith(".json")).toList()) {
        Files.delete(file);
      }
    }
    Path again = folder.resolve("again");
    assertThat(run("--report", results.toString(), "--out", again.toString())).isZero();
    assertThat(out.toString()).contains(", 8 rows");
    assertThat(again.resolve("report.html")).content().contains("Round trips", "nio tcp");
    assertThat(run("--report", results.toString(), "--run", "none")).isEqualTo(2);
    assertThat(err.toString()).contains("there is no run none; there are small-");
  }
}
