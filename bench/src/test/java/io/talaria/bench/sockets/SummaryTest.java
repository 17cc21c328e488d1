// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.ModeProbe.Roads;
import io.talaria.bench.harness.Spread;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class SummaryTest {
  private static final Scenario BLOCKING =
      new Scenario(Pattern.BLOCKING, Waiting.BLOCKING, 16, 1, Flight.TURN);
  private static final Scenario SELECT_NOW =
      new Scenario(Pattern.SELECT_NOW, Waiting.SELECT_NOW, 16, 1, Flight.TURN);
  private static final Scenario ONEWAY =
      new Scenario(Pattern.ONEWAY, Waiting.BLOCKING, 16, 1, Flight.TURN);
  private static final Scenario ALLOC =
      new Scenario(Pattern.ALLOC, Waiting.SELECT, 16, 1, Flight.TURN);
  private static final Scenario MANY =
      new Scenario(Pattern.MANY, Waiting.SELECT, 16, 1_000, Flight.TURN);
  private static final Roads NO_ROADS = new Roads("x", 0, 0, Map.of(), 0, 0);

  private final Results results = new Results();

  private void trips(Scenario scenario, Contender contender, int round, long ns) {
    Histogram histogram = Latencies.histogram();
    histogram.recordValue(ns);
    add(
        scenario,
        contender,
        round,
        Map.of(),
        Map.of(Measured.ROUND_TRIP, Latencies.encode(histogram)));
  }

  private void add(
      Scenario scenario,
      Contender contender,
      int round,
      Map<String, Double> values,
      Map<String, String> histograms) {
    results.add(
        new Results.Run(
            scenario,
            contender,
            round,
            new Measured(values, histograms, NO_ROADS),
            new Measured(Map.of(), Map.of(), NO_ROADS)));
  }

  @Test
  void blockingIsHeldAgainstTheJdksSpinning() {
    trips(BLOCKING, Contender.JDK, 1, 70_000);
    trips(BLOCKING, Contender.TALARIA, 1, 500);
    trips(SELECT_NOW, Contender.JDK, 1, 9_000);
    trips(SELECT_NOW, Contender.TALARIA, 1, 600);

    List<Row> rows = Summary.of(List.of(BLOCKING, SELECT_NOW), results);

    assertThat(rows.get(0).ratio()).isCloseTo(140, within(0.2));
    assertThat(rows.get(0).target().wanted()).isEqualTo("≥ 20× JDK's selectNow");
    assertThat(rows.get(0).target().reached()).isCloseTo(18, within(0.1));
    assertThat(rows.get(0).target().mark()).isEqualTo("MISSED");
    assertThat(rows.get(1).target().mark()).isEqualTo("met");
  }

  @Test
  void theMedianOfTheRoundsCounts() {
    trips(SELECT_NOW, Contender.JDK, 1, 10_000);
    trips(SELECT_NOW, Contender.JDK, 2, 90_000);
    trips(SELECT_NOW, Contender.JDK, 3, 12_000);
    trips(SELECT_NOW, Contender.TALARIA, 1, 1_000);

    Row row = Summary.of(List.of(SELECT_NOW), results).getFirst();

    assertThat(row.ratio()).isCloseTo(12, within(0.1));
    assertThat(row.jdk().max()).isCloseTo(90_000, within(100.0));
  }

  @Test
  void moreMessagesAreBetter() {
    add(ONEWAY, Contender.JDK, 1, Map.of(Measured.MESSAGES_PER_SECOND, 1e6), Map.of());
    add(ONEWAY, Contender.TALARIA, 1, Map.of(Measured.MESSAGES_PER_SECOND, 16e6), Map.of());

    results.addUcx(ONEWAY, 18e6);
    results.addUcx(ONEWAY, 9e6);
    results.addUcx(ONEWAY, 17e6);
    results.addUcx(SELECT_NOW, Double.NaN);

    Row row = Summary.of(List.of(ONEWAY), results).getFirst();

    assertThat(row.ratio()).isEqualTo(16);
    assertThat(row.target().met()).isTrue();
    assertThat(row.ucx()).isEqualTo(new Spread(17e6, 9e6, 18e6, 3));
    assertThat(results.ucx(SELECT_NOW)).isNull();
  }

  @Test
  void nothingMayBeAllocated() {
    add(ALLOC, Contender.TALARIA, 1, Map.of(Measured.CLIENT_ALLOCATED, 0.3), Map.of());

    List<Row> rows = Summary.of(List.of(ALLOC), results);

    assertThat(rows).hasSize(1);
    assertThat(rows.getFirst().target().met()).isFalse();
    assertThat(rows.getFirst().ratio()).isNaN();
  }

  @Test
  void sharedMemoryForEachConnectionHasALimit() {
    add(MANY, Contender.TALARIA, 1, Map.of(Measured.SHM_PER_CONNECTION, 70_000.0), Map.of());

    List<Row> rows = Summary.of(List.of(MANY), results);

    assertThat(rows).hasSize(1);
    assertThat(rows.getFirst().target().wanted()).isEqualTo("≤ 328 KiB");
    assertThat(rows.getFirst().target().met()).isTrue();
  }
}
