// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlanReaderTest {
  private static final String GOOD =
      """
      {"name": "own", "bindings": ["nio", "ucx-put"], "transports": ["tcp", "shm"],
       "patterns": ["throughput", "pingpong"], "sizes": [16, "4K", "1M"], "connections": [1, 2],
       "rates": [0, 1000], "operations": {"throughput": 1024, "latency": 512},
       "halveFromBytes": 8192, "seconds": 0.5, "warmUpSeconds": 0, "repetitions": 3}
      """;

  @ParameterizedTest
  @ValueSource(strings = {"quick", "paper", "scaling", "neutrino-messages", "neutrino-memory"})
  void theReadyMadeSetsAreGood(String set) throws PlanException {
    RunPlan plan = PlanReader.read(set);
    assertThat(plan.name()).isEqualTo(set);
    assertThat(plan.count()).isPositive();
  }

  @Test
  void thePaperSetGoesFromOneByteToOneMebibyteInPowersOfTwoFiveTimes() throws PlanException {
    RunPlan paper = PlanReader.read("paper");
    assertThat(paper.sizes()).hasSize(21).startsWith(1, 2).endsWith(1 << 19, 1 << 20);
    assertThat(paper.repetitions()).isEqualTo(5);
  }

  @Test
  void theScalingSetGoesFromOneTo512Connections() throws PlanException {
    assertThat(PlanReader.read("scaling").connections()).startsWith(1).endsWith(512);
  }

  @Test
  void theSetsOfNeutrinoHaveTheSizesAndConnectionsOfItsPaper() throws PlanException {
    RunPlan messages = PlanReader.read("neutrino-messages");
    assertThat(messages.sizes()).hasSize(9).startsWith(16).endsWith(4096);
    RunPlan memory = PlanReader.read("neutrino-memory");
    assertThat(memory.sizes()).hasSize(7).startsWith(512 << 10).endsWith(32 << 20);
    for (RunPlan plan : List.of(messages, memory)) {
      assertThat(plan.connections()).containsExactly(1, 2);
      assertThat(plan.repetitions()).isEqualTo(30);
      assertThat(plan.bindings()).allMatch(BindingKind::verbs);
    }
  }

  @Test
  void aPlanIsExpandedIntoImplementationsAndCases() throws PlanException {
    RunPlan plan = PlanReader.parse("own.json", GOOD);
    assertThat(plan.implementations())
        .extracting(LinkImplementation::label)
        .containsExactly("nio tcp", "nio shm", "ucx-put");
    List<Case> cases = plan.cases(plan.implementations().getFirst());
    // Throughput has no rates: 3 sizes; round trips in closed and open loop: 6; 1 and 2
    // connections.
    assertThat(cases).hasSize(18);
    assertThat(cases.getFirst()).isEqualTo(new Case(Pattern.THROUGHPUT, 2, 1, 16, 0, 1024));
    assertThat(cases).contains(new Case(Pattern.PINGPONG, 2, 2, 1 << 20, 1000, 2));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "sizes": [16, "4K", "1M"] | "sizes": [16, 0]       | own.json: $.sizes[1] is 0; it must be a whole number from 1 to 33554432
          "sizes": [16, "4K", "1M"] | "sizes": [1, "64M"]    | own.json: $.sizes[1] is 67108864; it must be a whole number from 1 to 33554432
          "sizes": [16, "4K", "1M"] | "sizes": [4096, "4K"]  | own.json: $.sizes is [4096,4096]; it must be a list of different values
          "sizes": [16, "4K", "1M"] | "sizes": []            | own.json: $.sizes is []; it must be a list, [ … ], of at least one
          "sizes": [16, "4K", "1M"] | "sizes": [8, 8]        | own.json: $.sizes is [8,8]; it must be a list of different values
          "latency": 512            | "latency": "many"      | own.json: $.operations.latency is "many"; it must be a whole number from 1 to 1000000000000
          "seconds": 0.5            | "seconds": -1          | own.json: $.seconds is -1; it must be a number from 0.001 to 3600
          "repetitions": 3          | "repetitons": 3        | own.json: $.repetitons is unknown
          "tcp", "shm"              | "tcp", "smh"           | own.json: $.transports[1] is "smh"; it must be one of tcp, shm, ucx
          "throughput", "pingpong"  | "throughput", "access", "bidirectional", "pong" | own.json: $.patterns[3] is "pong"
          {"name": "own",           | {"name": 7,            | own.json: $.name is 7; it must be text like ^[A-Za-z0-9._-]{1,40}$
          {"name": "own",           | {"name": "own"         | own.json is no JSON: line 1, column
          {"name": "own",           | {"name": "own", "name": "x", | own.json is no JSON: line 1, column
          """,
      quoteCharacter = '\'')
  void whatIsWrongIsNamedWithPlaceValueAndRange(String good, String bad, String message) {
    assertThat(GOOD).contains(good);
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("own.json", GOOD.replace(good, bad)))
        .withMessageStartingWith(message);
  }

  @Test
  void whatIsLeftOutIsAsTheSchemaSays() throws PlanException {
    RunPlan plan =
        PlanReader.parse(
            "own.json",
            """
            {"$schema": "plan.schema.json", "bindings": ["ucx-tag"], "patterns": ["pingpong"],
             "sizes": ["1K"], "operations": {"latency": 5}}
            """);
    assertThat(plan)
        .isEqualTo(
            new RunPlan(
                "run",
                List.of(BindingKind.UCX_TAG),
                null,
                List.of(Pattern.PINGPONG),
                List.of(1024),
                List.of(1),
                List.of(2),
                List.of(0),
                new RunPlan.Operations(1_000_000, 5),
                0,
                2,
                1,
                1,
                0,
                "",
                60));
  }

  @Test
  void whatIsMissingIsNamed() {
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("own.json", "{}"))
        .withMessage("own.json: $.bindings is missing");
  }

  @Test
  void aPatternThatNobodyCanDoIsRefused() {
    String json =
        """
        {"bindings": ["nio"], "transports": ["tcp"], "patterns": ["pingpong", "access"],
         "sizes": [1], "operations": {}}
        """;
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("own.json", json))
        .withMessage("own.json: pattern access can be done by none of the bindings");
  }

  @Test
  void atomicsHaveFourAndEightBytesOnly() throws PlanException {
    String json =
        """
        {"bindings": ["ucx-swap"], "patterns": ["access"], "sizes": [4, 16], "operations": {}}
        """;
    RunPlan plan = PlanReader.parse("own.json", json);
    assertThat(plan.cases(plan.implementations().getFirst()))
        .extracting(Case::sizeBytes)
        .containsExactly(4);
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("own.json", json.replace("[4, 16]", "[16]")))
        .withMessage("own.json: binding ucx-swap can do none of the sizes, but 4 and 8");
  }

  @Test
  void moreConnectionsThanThreadsCanServeAreRefused() {
    String json =
        """
        {"bindings": ["nio"], "transports": ["tcp"], "patterns": ["all-to-all"], "sizes": [1],
         "processes": [2, 32], "connections": [5], "operations": {}}
        """;
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("own.json", json))
        .withMessage(
            "own.json: $.processes: 32 processes with 5 connections for each pair are 2480"
                + " connections; it must be at most 2048");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          `  `                        | x is empty; it must hold an object
          hello                       | x is no JSON: line 1, column 1: Unrecognized token 'hello'
          null                        | x: $ is null; it must be an object
          {} {}                       | x is no JSON: line 1, column 5: more follows its end
          """,
      quoteCharacter = '`')
  void whatIsNoDescriptionIsRefused(String text, String message) {
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("x", text))
        .withMessageStartingWith(message);
  }

  @Test
  void whatTheParserDoesNotBearIsRefused() {
    for (String text : List.of("[".repeat(100_000), "{\"name\": 1" + "0".repeat(5_000) + "}")) {
      assertThatExceptionOfType(PlanException.class)
          .isThrownBy(() -> PlanReader.parse("x", text))
          .withMessageMatching("x is no JSON: .*exceeds the maximum.*");
    }
  }

  @Test
  void transportsWithoutSocketsAreRefused() {
    String json =
        """
        {"bindings": ["ucx-tag"], "transports": ["tcp"], "patterns": ["pingpong"], "sizes": [1],
         "operations": {}}
        """;
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.parse("x", json))
        .withMessage(
            "x: $.transports must be left out: no binding uses sockets, and only these have a transport");
  }

  @ParameterizedTest
  @CsvSource({
    "none.json, there is no such file",
    "'', Is a directory",
    "binary, it is no text in UTF-8",
    "huge, it is larger than 1048576 bytes"
  })
  void aFileThatCannotBeReadIsNamed(String name, String why, @TempDir Path folder)
      throws IOException {
    Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, 0});
    Files.writeString(folder.resolve("huge"), " ".repeat((1 << 20) + 1));
    String file = folder.resolve(name).toString();
    assertThatExceptionOfType(PlanException.class)
        .isThrownBy(() -> PlanReader.read(file))
        .withMessage(
            "'"
                + file
                + "' cannot be read: "
                + why
                + "; ready-made sets are quick, paper, scaling, neutrino-messages,"
                + " neutrino-memory");
  }
}
