// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.workloads.TalariaCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Runs {@code bench mpj} and reads its figures. */
final class MpjRun {
  /** Options for figures that nobody looks at. */
  static final String SHORT = " --iterations 1 --seconds 0.2 --warm-up 0.2 ";

  private MpjRun() {}

  static JsonNode bench(Path folder, String words) throws Exception {
    Path json = folder.resolve("mpj.json");
    String[] all = ("bench mpj " + words + " --no-pin --json " + json).split(" +", -1);
    assertThat(TalariaCommand.run(all).well().out()).contains("Written: " + json);
    return Json.parse(Files.readString(json));
  }

  static JsonNode measure(JsonNode json, String id) {
    for (JsonNode measure : json.path("measures")) {
      if (measure.path("id").asText().equals(id)) {
        return measure;
      }
    }
    throw new AssertionError("no measure " + id + " in " + json);
  }

  /**
   * Asserts that nothing is missing, and that each of those installed here measured each of these.
   */
  static void assertMeasured(JsonNode json, List<String> ids, String... implementations) {
    assertThat(json.path("missing")).as(json.path("missing").toString()).isEmpty();
    for (String id : ids) {
      for (String implementation : installed(json, implementations)) {
        if (measure(json, id).path("unit").asText().equals("%")) {
          assertPercentage(json, id, implementation);
        } else {
          assertThat(figure(json, id, implementation)).as(id + implementation).isPositive();
        }
      }
    }
  }

  /** Asserts that the parts of the time that those installed here spent communicating are parts. */
  static void assertCommunicated(JsonNode json, String kernel, String... implementations) {
    for (String implementation : installed(json, implementations)) {
      assertPercentage(json, kernel + "/S/communication", implementation);
    }
  }

  /** Asserts that a part is there: 0 is one, as where computing hides nothing of a message. */
  private static void assertPercentage(JsonNode json, String id, String implementation) {
    assertThat(figure(json, id, implementation)).as(id + implementation).isBetween(0.0, 100.0);
  }

  private static List<String> installed(JsonNode json, String... implementations) {
    JsonNode absent = json.path("options").path("absent");
    return Stream.of(implementations).filter(each -> !absent.has(each)).toList();
  }

  /** The figure of the first iteration; -1 if there is none. */
  static double figure(JsonNode json, String id, String implementation) {
    return measure(json, id).path("iterations").path(implementation).path(0).asDouble(-1);
  }
}
