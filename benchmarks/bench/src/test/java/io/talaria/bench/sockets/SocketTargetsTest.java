// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Measure;
import io.talaria.bench.compare.Report;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Target;
import io.talaria.bench.harness.TransportProbe.Transports;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** Which figures a scenario has, and what the project holds them against. */
class SocketTargetsTest {
  private static final Scenario BLOCKING =
      new Scenario(Pattern.BLOCKING, WaitStrategy.BLOCKING, 16, 1, Flight.TURN);
  private static final Scenario SELECT_NOW =
      new Scenario(Pattern.SELECT_NOW, WaitStrategy.SELECT_NOW, 16, 1, Flight.TURN);
  private static final Scenario ONEWAY =
      new Scenario(Pattern.ONEWAY, WaitStrategy.BLOCKING, 16, 1, Flight.TURN);
  private static final Scenario LARGE =
      new Scenario(Pattern.ONEWAY, WaitStrategy.BLOCKING, 65_536, 1, Flight.TURN);
  private static final Scenario ALLOC =
      new Scenario(Pattern.ALLOC, WaitStrategy.SELECT, 16, 1, Flight.TURN);
  private static final Scenario MANY =
      new Scenario(Pattern.MANY, WaitStrategy.SELECT, 16, 1_000, Flight.TURN);
  private static final Scenario WAKE =
      new Scenario(Pattern.WAKE, WaitStrategy.SELECT, 16, 1, Flight.TURN, true);
  private static final Transports NO_TRANSPORTS = new Transports("x", 0, 0, Map.of(), 0, 0);

  private final Comparison found =
      new Comparison(List.of(Implementation.JDK, Implementation.TALARIA, Implementation.UCX_IN_C));
  private final SocketTargets targets = new SocketTargets(found);

  private void trips(Scenario scenario, Implementation implementation, long ns) {
    Histogram histogram = Latencies.histogram();
    histogram.recordValue(ns);
    add(
        scenario,
        implementation,
        Map.of(),
        Map.of(Measured.ROUND_TRIP, Latencies.encode(histogram)));
  }

  private void add(
      Scenario scenario,
      Implementation implementation,
      Map<String, Double> values,
      Map<String, String> histograms) {
    ScenarioRun run =
        new ScenarioRun(
            scenario,
            new Measured(values, histograms, NO_TRANSPORTS, true),
            new Measured(Map.of(), Map.of(), NO_TRANSPORTS, true));
    new ScenarioFigures(run, implementation, found).add();
  }

  private Measure measure(String id) {
    return found
        .result("x", Machine.describe("7", Pinning.decide(false)), Map.of())
        .measures()
        .stream()
        .filter(measure -> measure.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void blockingIsHeldAgainstTheJdksSpinning() {
    trips(BLOCKING, Implementation.JDK, 70_000);
    trips(BLOCKING, Implementation.TALARIA, 500);
    trips(SELECT_NOW, Implementation.JDK, 9_000);
    trips(SELECT_NOW, Implementation.TALARIA, 600);

    targets.judge(List.of(BLOCKING, SELECT_NOW));

    Measure blocking = measure("blocking/16B/p50");
    assertThat(blocking.ratio()).isCloseTo(140, within(0.2));
    assertThat(blocking.target().wanted()).isEqualTo("≥ 20× JDK's selectNow");
    assertThat(blocking.target().reached()).isCloseTo(18, within(0.1));
    assertThat(blocking.target().mark()).isEqualTo("MISSED");
    assertThat(measure("selectNow/16B/p50").target().mark()).isEqualTo("met");
  }

  @Test
  void messagesOneWayHaveATargetByTheirSize() {
    add(ONEWAY, Implementation.JDK, Map.of(Measured.MESSAGES_PER_SECOND, 1e6), Map.of());
    add(ONEWAY, Implementation.TALARIA, Map.of(Measured.MESSAGES_PER_SECOND, 16e6), Map.of());
    add(LARGE, Implementation.JDK, Map.of(Measured.GIGABYTES_PER_SECOND, 3.0), Map.of());
    add(LARGE, Implementation.TALARIA, Map.of(Measured.GIGABYTES_PER_SECOND, 9.0), Map.of());

    targets.judge(List.of(ONEWAY, LARGE));

    assertThat(measure("oneway/16B").ratio()).isEqualTo(16);
    assertThat(measure("oneway/16B").target().met()).isTrue();
    assertThat(measure("oneway/65536B").target().met()).isFalse();
  }

  @Test
  void nothingMayBeAllocated() {
    add(ALLOC, Implementation.TALARIA, Map.of(Measured.CLIENT_ALLOCATED, 0.3), Map.of());

    targets.judge(List.of(ALLOC));

    assertThat(measure("alloc/select/16B/client").target().met()).isFalse();
    assertThat(measure("alloc/select/16B/client").ratio()).isNull();
  }

  @Test
  void sharedMemoryForEachConnectionHasALimit() {
    add(MANY, Implementation.TALARIA, Map.of(Measured.SHM_PER_CONNECTION, 70_000.0), Map.of());

    targets.judge(List.of(MANY));

    assertThat(measure("many/16B/1000-conn/shm").target().wanted()).isEqualTo("≤ 328 KiB");
    assertThat(measure("many/16B/1000-conn/shm").target().met()).isTrue();
  }

  @Test
  void aWakeUpHasItsRoundTripAndItsProcessorTime() {
    trips(WAKE, Implementation.JDK, 16_000);
    add(WAKE, Implementation.JDK, Map.of(Measured.CPU_PER_TRIP, 15_000.0), Map.of());

    assertThat(measure("wake/select/16B/one-core/p50").label())
        .isEqualTo("16 B wake-up, select, one core, p50");
    assertThat(measure("wake/select/16B/one-core/cpu").jdk().median()).isEqualTo(15_000);
  }

  @Test
  void onUcxABlockingRoundTripMayTakeTwoAndAHalfTimesAsLongAsInC() {
    assertThat(onUcx(BLOCKING, 500, 200)).isEqualTo(new Target("≤ 2.5× UCX in C", 2.5, true));
  }

  @Test
  void onUcxMoreThanTwoAndAHalfTimesIsMissed() {
    assertThat(onUcx(BLOCKING, 501, 200).met()).isFalse();
  }

  @Test
  void onUcxLargeMessagesMustGoHalfAsFast() {
    assertThat(onUcx(LARGE, 5, 10)).isEqualTo(new Target("≥ 0.5× UCX in C", 0.5, true));
  }

  @Test
  void onUcxLessThanHalfIsMissed() {
    assertThat(onUcx(LARGE, 4.9, 10).met()).isFalse();
  }

  @Test
  void onUcxOnlyTheseAreJudged() {
    assertThat(onUcx(SELECT_NOW, 500, 200)).isNull();
  }

  private Target onUcx(Scenario scenario, double talaria, double ucx) {
    boolean oneway = scenario.pattern() == Pattern.ONEWAY;
    String id = scenario.id() + (oneway ? "" : "/p50");
    var quantity =
        oneway ? ScenarioFigures.quantity(scenario) : io.talaria.bench.harness.Quantity.TIME;
    found.add(id, id, quantity, Implementation.TALARIA, talaria);
    found.add(id, id, quantity, Implementation.UCX_IN_C, ucx);
    targets.judgeOnUcx();
    return measure(id).target();
  }

  @Test
  void jucxIsHeldAgainstFfmAndTheJdk() {
    Scenario many = new Scenario(Pattern.SELECT_NOW, WaitStrategy.SELECT_NOW, 16, 64, Flight.ALL);
    trips(BLOCKING, Implementation.TALARIA, 500);
    trips(BLOCKING, Implementation.TALARIA_BY_JUCX, 1_400);
    trips(many, Implementation.JDK, 50_000);
    trips(many, Implementation.TALARIA, 10_000);
    trips(many, Implementation.TALARIA_BY_JUCX, 40_000);
    add(LARGE, Implementation.TALARIA, Map.of(Measured.GIGABYTES_PER_SECOND, 20.0), Map.of());
    add(
        LARGE,
        Implementation.TALARIA_BY_JUCX,
        Map.of(Measured.GIGABYTES_PER_SECOND, 13.0),
        Map.of());
    add(ALLOC, Implementation.TALARIA_BY_JUCX, Map.of(Measured.CLIENT_ALLOCATED, 201.0), Map.of());

    targets.judgeByJucx();

    assertThat(found.judged()).isEqualTo(5);
    assertThat(found.missed()).isEqualTo(2); // a quarter of FFM's rate, and a byte too many
    assertThat(new Report(Machine.describe("7", Pinning.decide(false)), found).text())
        .containsPattern("round trip, blocking, p50 +≤ 3× FFM +2\\.80× +met")
        .containsPattern("64 in flight, p50 +≥ 0\\.33× FFM +0\\.25× +MISSED")
        .containsPattern("64 in flight, p50 +> 1× JDK +1\\.25× +met")
        .containsPattern("64 KiB one way +≥ 0\\.6× FFM +0\\.65× +met")
        .containsPattern("allocation, select, client, a trip +≤ 200 B +201 B +MISSED");
  }
}
