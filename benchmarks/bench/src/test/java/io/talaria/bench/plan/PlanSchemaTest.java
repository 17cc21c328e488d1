// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The schema that is shipped for editors, by which the reader checks, too. */
class PlanSchemaTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonNode TEXT = resource("plan.schema.json");
  private static final JsonSchema SCHEMA =
      JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(TEXT);

  private static final String GOOD =
      """
      {"$schema": "plan.schema.json", "bindings": ["nio", "ucx-put"], "transports": ["tcp"],
       "patterns": ["throughput", "pingpong"], "sizes": [16, "4K"], "connections": [1, 2],
       "rates": [0], "operations": {"latency": 512}, "seconds": 0.5}
      """;

  private static JsonNode resource(String name) {
    try (InputStream in = PlanReader.class.getResourceAsStream(name)) {
      return MAPPER.readTree(in);
    } catch (IOException e) {
      throw new AssertionError(name, e);
    }
  }

  private static boolean schemaTakes(String json) throws IOException {
    return SCHEMA.validate(MAPPER.readTree(json)).isEmpty();
  }

  private static boolean readerTakes(String json) {
    try {
      PlanReader.parse("x", json);
      return true;
    } catch (PlanException e) {
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"quick", "paper", "scaling"})
  void theReadyMadeSetsFollowIt(String set) {
    assertThat(SCHEMA.validate(resource(set + ".json"))).isEmpty();
  }

  @Test
  void theExampleOfTheDocumentFollowsIt() throws IOException {
    String page = Files.readString(Path.of("..", "..", "docs", "observatory.md"));
    Matcher example = Pattern.compile("(?s)```json\n(\\{.*?)```").matcher(page);
    assertThat(example.find()).isTrue();
    assertThat(SCHEMA.validate(MAPPER.readTree(example.group(1)))).isEmpty();
    assertThat(readerTakes(example.group(1))).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "sizes": [16, "4K"]  | "sizes": [16, 0]
          "sizes": [16, "4K"]  | "sizes": []
          "sizes": [16, "4K"]  | "sizes": [8, 8]
          "sizes": [16, "4K"]  | "sizes": ["4G"]
          "sizes": [16, "4K"], |
          "latency": 512       | "latency": 0
          "latency": 512       | "latncy": 1
          "seconds": 0.5       | "seconds": -1
          "seconds": 0.5       | "second": 1
          "seconds": 0.5       | "repetitions": 101
          "tcp"                | "smh"
          "throughput"         | "pong"
          "connections": [1, 2] | "connections": [1025]
          "rates": [0]         | "rates": 7
          """,
      quoteCharacter = '\'')
  void whatTheReaderRefusesTheSchemaRefuses(String good, String bad) throws IOException {
    assertThat(readerTakes(GOOD) && schemaTakes(GOOD)).isTrue();
    assertThat(GOOD).contains(good);
    String wrong = GOOD.replace(good, bad == null ? "" : bad);
    assertThat(readerTakes(wrong)).as("reader").isFalse();
    assertThat(schemaTakes(wrong)).as("schema").isFalse();
  }

  @Test
  void itHasAllNames() {
    assertThat(names("bindings")).isEqualTo(labels(BindingKind.values(), BindingKind::label));
    assertThat(names("patterns"))
        .containsExactlyInAnyOrderElementsOf(
            labels(io.talaria.bench.plan.Pattern.values(), io.talaria.bench.plan.Pattern::label));
    assertThat(names("transports"))
        .isEqualTo(
            List.of(
                SocketTransport.TCP.label(),
                SocketTransport.SHM.label(),
                SocketTransport.UCX.label()));
  }

  private static <E> List<String> labels(E[] values, Function<E, String> label) {
    return Arrays.stream(values).map(label).toList();
  }

  private static List<String> names(String property) {
    List<String> names = new java.util.ArrayList<>();
    TEXT.at("/properties/" + property + "/items/enum").forEach(name -> names.add(name.asText()));
    return names;
  }
}
