// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.ModeProbe.Roads;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  private static final Scenario SCENARIO =
      new Scenario(Pattern.SELECT_NOW, Waiting.SELECT_NOW, 16, 1, Flight.TURN);

  private final Results results = new Results();
  private Report report;

  @BeforeEach
  void measure() {
    add(Contender.JDK, 10_000);
    add(Contender.TALARIA, 400);
    report();
  }

  private void report() {
    List<Scenario> scenarios = List.of(SCENARIO);
    report =
        new Report(
            Machine.describe("7", Pinning.decide(false)),
            Map.of("rounds", 1),
            scenarios,
            results,
            Summary.of(scenarios, results));
  }

  private void add(Contender contender, long ns) {
    Histogram histogram = Latencies.histogram();
    histogram.recordValue(ns);
    Measured client =
        new Measured(
            Map.of(Measured.TRIPS_PER_SECOND, 1e9 / ns),
            Map.of(Measured.ROUND_TRIP, Latencies.encode(histogram)),
            new Roads("x", 1, 0, Map.of("shm (same-host)", 1), 0, 32));
    Measured server =
        new Measured(
            Map.of(Measured.SERVER_ALLOCATED, Double.NaN),
            Map.of(),
            new Roads("x", 0, 0, Map.of(), 0, 0));
    results.add(new Results.Run(SCENARIO, contender, 1, client, server));
  }

  @Test
  void theTextShowsConditionsRatioTargetAndPercentiles() {
    assertThat(report.text())
        .contains("Talaria  7\n", "Pinning  none (not wanted)\n")
        .containsPattern(
            "16 B round trip, selectNow, p50 +10\\.0 µs +0\\.40 µs +25\\.0× +≥ 12× +25\\.0× +met")
        .containsPattern("selectNow +Talaria +0\\.40 µs")
        .endsWith("1 of 1 targets met\n");
  }

  @Test
  void theColumnOfUcxHasTheRangeOfItsRounds() {
    results.addUcx(SCENARIO, 300);
    results.addUcx(SCENARIO, 600);
    results.addUcx(SCENARIO, 320);
    report();

    assertThat(report.text())
        .containsPattern("Ratio +UCX in C +Talaria / UCX +Target")
        .contains(" 0.32 µs (0.30 µs – 0.60 µs) ");
  }

  @Test
  void theJsonHoldsMeasuresAndRuns(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("x.json");
    Json.write(file, report.json());

    JsonNode json = Json.parse(Files.readString(file));

    assertThat(json.path("format").asText()).isEqualTo("talaria-bench-sockets-1");
    assertThat(json.path("environment").path("talaria").asText()).isEqualTo("7");
    assertThat(json.path("targetsMissed").asInt()).isZero();
    JsonNode measure = json.path("measures").path(0);
    assertThat(measure.path("id").asText()).isEqualTo("selectNow/16B");
    assertThat(measure.path("unit").asText()).isEqualTo("ns");
    assertThat(measure.path("ratio").asDouble()).isCloseTo(25, within(0.1));
    assertThat(measure.path("ucx").isNull()).isTrue();
    assertThat(measure.path("target").path("met").asBoolean()).isTrue();
    JsonNode run = json.path("runs").path(1);
    assertThat(run.path("contender").asText()).isEqualTo("TALARIA");
    assertThat(run.path("roads").path("accelerated").asInt()).isEqualTo(1);
    assertThat(run.path("values").path(Measured.SERVER_ALLOCATED).isNull()).isTrue();
    JsonNode histogram = run.path("histograms").path(Measured.ROUND_TRIP);
    assertThat(histogram.path("percentiles").path("p50").asDouble()).isEqualTo(400);
    assertThat(Latencies.decode(histogram.path("hdr").asText()).getTotalCount()).isEqualTo(1);
  }
}
