// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import io.talaria.bench.harness.TransportProbe.Transports;
import io.talaria.cli.harness.Json;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;

/** What a comparison says to people and to machines. */
class ComparisonTest {
  private static final Machine MACHINE = Machine.describe("7", Pinning.decide(false));

  private final Comparison found =
      new Comparison(List.of(Implementation.JDK, Implementation.TALARIA, Implementation.UCX_IN_C));

  private void time(Implementation implementation, long ns) {
    Histogram histogram = Latencies.histogram();
    histogram.recordValue(ns);
    found.addTimes("trip", "16 B round trip", implementation, histogram);
  }

  private void times() {
    time(Implementation.JDK, 10_000);
    time(Implementation.TALARIA, 400);
  }

  private String text() {
    return new Report(MACHINE, found).text();
  }

  private JsonNode json() {
    return Json.tree(found.result("talaria-bench-x-1", MACHINE, Map.of("iterations", 1)));
  }

  @Test
  void aFigureThatIsMissingIsToldWithItsCause() {
    times();
    found.addMissing(
        new Comparison.Missing(
            "16 B round trip", Implementation.UCX_IN_C, 2, "it printed nothing"));

    assertThat(found.missingText(false))
        .isEqualTo("\nMissing:\n  16 B round trip, UCX in C, iteration 2: it printed nothing\n");
    JsonNode missing = json().get("missing").get(0);
    assertThat(missing.get("label").asText()).isEqualTo("16 B round trip");
    assertThat(missing.get("iteration").asInt()).isEqualTo(2);
    assertThat(missing.get("cause").asText()).isEqualTo("it printed nothing");
  }

  @Test
  void theTextShowsConditionsRatioTargetAndPercentiles() {
    times();
    found.judge("trip/p50", Target.ratio(12, 25, ""));

    assertThat(text())
        .contains("Talaria  7\n", "Pinning  none (not wanted)\n")
        .containsPattern("16 B round trip, p50 +10\\.0 µs +0\\.40 µs +25\\.0× +≥ 12× +25\\.0× +met")
        .containsPattern("trip +Talaria +0\\.40 µs")
        .endsWith("1 of 1 targets met\n");
  }

  @Test
  void aMissedTargetIsCountedAndMarked() {
    times();
    found.judge("trip/p50", Target.ratio(30, 25, ""));
    found.judge("not/measured", Target.ratio(30, 25, ""));

    assertThat(found.missed()).isEqualTo(1);
    assertThat(found.judged()).isEqualTo(1);
    assertThat(text()).contains("MISSED").endsWith("0 of 1 targets met\n");
  }

  @Test
  void theColumnOfUcxHasTheRangeOfItsIterations() {
    times();
    for (double ns : new double[] {300, 600, 320, Double.NaN}) {
      found.add("trip/p50", "", Quantity.TIME, Implementation.UCX_IN_C, ns);
    }

    assertThat(text())
        .containsPattern("Ratio +UCX in C +Talaria / UCX")
        .contains(" 0.32 µs (0.30 µs – 0.60 µs) ");
    assertThat(found.timesUcx("trip/p50")).isCloseTo(1.25, within(0.01));
    assertThat(found.timesUcx("nothing")).isNaN();
  }

  @Test
  void theRatioToUcxIsTheMedianOfTheIterationsThatHaveBoth() {
    double[][] iterations = {{100, 50}, {300, 300}, {1_000, 250}};
    for (double[] iteration : iterations) {
      found.add("x", "x", Quantity.TIME, Implementation.TALARIA, iteration[0]);
      found.add("x", "x", Quantity.TIME, Implementation.UCX_IN_C, iteration[1]);
    }

    assertThat(found.timesUcx("x")).isEqualTo(2);
  }

  @Test
  void theMedianOfTheIterationsCountsAndMoreIsBetterOfRates() {
    for (double rate : new double[] {1e6, 9e6, 1.2e6}) {
      found.add("rate", "messages", Quantity.PER_SECOND, Implementation.JDK, rate);
    }
    found.add("rate", "messages", Quantity.PER_SECOND, Implementation.TALARIA, 12e6);

    assertThat(found.spread("rate", Implementation.JDK)).isEqualTo(new Spread(1.2e6, 1e6, 9e6, 3));
    assertThat(json().path("measures").path(0).path("ratio").asDouble()).isCloseTo(10, within(.1));
  }

  @Test
  void oneImplementationAloneHasNoRatio() {
    Comparison alone = new Comparison(List.of(Implementation.TALARIA));
    alone.add("rate", "messages", Quantity.PER_SECOND, Implementation.TALARIA, 12e6);

    assertThat(new Report(MACHINE, alone).text())
        .contains("Measure    Talaria\n")
        .doesNotContain("Ratio", "Target");
  }

  @Test
  void theJsonHoldsMeasuresIterationsTimesAndRuns() throws Exception {
    times();
    found.judge("trip/p50", Target.ratio(12, 25, ""));
    found.addRun("trip", "16 B round trip", Implementation.TALARIA, true, Map.of("trips", 5));

    JsonNode json = Json.parse(Json.line(json()));

    assertThat(json.path("format").asText()).isEqualTo("talaria-bench-x-1");
    assertThat(json.path("environment").path("talaria").asText()).isEqualTo("7");
    assertThat(json.path("targetsMissed").asInt(-1)).isZero();
    JsonNode measure = json.path("measures").path(0);
    assertThat(measure.path("id").asText()).isEqualTo("trip/p50");
    assertThat(measure.path("unit").asText()).isEqualTo("ns");
    assertThat(measure.path("ratio").asDouble()).isCloseTo(25, within(0.1));
    assertThat(measure.path("ucx").isNull()).isTrue();
    assertThat(measure.path("timesUcx").isNull()).isTrue();
    assertThat(measure.path("target").path("met").asBoolean()).isTrue();
    assertThat(measure.path("iterations").path("JDK").path(0).asDouble())
        .isEqualTo(10_000, within(9.));
    JsonNode times = json.path("times").path(1);
    assertThat(times.path("implementation").asText()).isEqualTo("TALARIA");
    assertThat(times.path("percentiles").path("p50").asDouble()).isEqualTo(400);
    assertThat(Latencies.decode(times.path("hdr").asText()).getTotalCount()).isEqualTo(1);
    assertThat(json.path("runs").path(0).path("found").path("trips").asInt()).isEqualTo(5);
  }

  @Test
  void theTableForSpreadsheetsHasALineForEachFigureOfEachIteration() throws Exception {
    found.add("x/rate", "a, \"quoted\" label", Quantity.PER_SECOND, Implementation.JDK, 1.5);
    found.add("x/rate", "", Quantity.PER_SECOND, Implementation.JDK, 2);
    found.add("x/rate", "", Quantity.PER_SECOND, Implementation.TALARIA, 3);

    assertThat(ResultFiles.csv(found.result("f", MACHINE, Map.of())).lines())
        .containsExactly(
            "id,label,unit,implementation,iteration,value",
            "x/rate,\"a, \"\"quoted\"\" label\",1/s,JDK,1,1.5",
            "x/rate,\"a, \"\"quoted\"\" label\",1/s,JDK,2,2.0",
            "x/rate,\"a, \"\"quoted\"\" label\",1/s,TALARIA,1,3.0");
  }

  @Test
  void theHistogramLogHasTheTimesOfEachIterationUnderItsOwnTag() {
    times();
    time(Implementation.TALARIA, 500);

    byte[] log = ResultFiles.hlog(found.result("f", MACHINE, Map.of()));

    List<String> tags = new ArrayList<>();
    try (HistogramLogReader reader = new HistogramLogReader(new ByteArrayInputStream(log))) {
      while (reader.hasNext()) {
        Histogram histogram = (Histogram) reader.nextIntervalHistogram();
        tags.add(histogram.getTag());
        assertThat(histogram.getTotalCount()).isEqualTo(1);
      }
    }
    assertThat(tags).containsExactly("trip.JDK.1", "trip.TALARIA.1", "trip.TALARIA.2");
  }

  @Test
  void transportsAreShownAndCasesThatTookTheSameShareALine() {
    Transports shm = new Transports("x", 1, 0, Map.of("shm (same-host)", 1), 0, 32);
    found.add("x", "x", Quantity.COUNT, Implementation.TALARIA, 1);
    found.addTransports("first", Implementation.TALARIA, shm);
    found.addTransports("second", Implementation.TALARIA, shm);
    found.addTransports("tcp", Implementation.JDK, shm);

    assertThat(text()).contains("Connections on Talaria, first; second: 1 shm (same-host)\n");
  }

  @Test
  void compilersThatDidNotRestAreToldOf() {
    found.add("x", "x", Quantity.COUNT, Implementation.TALARIA, 1);
    found.addRun("x", "x", Implementation.JDK, false, "found");
    found.addRun("x", "x", Implementation.JDK, false, "found");

    assertThat(text()).contains("a longer --warm-up helps:\n  x on JDK, 2 iterations\n");
  }
}
