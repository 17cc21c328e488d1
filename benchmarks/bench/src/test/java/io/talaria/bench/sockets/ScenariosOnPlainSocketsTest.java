// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pinning;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every kind of scenario once, very shortly, between two JVMs on the JDK's sockets. */
@Timeout(120)
class ScenariosOnPlainSocketsTest {
  private static final double SHORT = 0.06;

  private static ScenarioRun run(Scenario scenario) throws Exception {
    return run(scenario, SHORT, Pinning.decide(false));
  }

  private static ScenarioRun run(Scenario scenario, double seconds, Pinning pinning)
      throws Exception {
    List<String> small = List.of("-Xms16m", "-Xmx128m");
    Launch launch = new Launch(Implementation.JDK, null, "shm", small, pinning);
    return new ScenarioRunner(launch, new Timing(SHORT / 4, seconds))
        .run(scenario, Implementation.JDK);
  }

  static Stream<Scenario> wakeUps() {
    return Stream.of(
        new Scenario(Pattern.WAKE, WaitStrategy.BLOCKING, 16, 1, Flight.TURN, false),
        new Scenario(Pattern.WAKE, WaitStrategy.SELECT, 16, 1, Flight.TURN, true));
  }

  static Stream<Scenario> otherWakeUps() {
    return Stream.of(
        new Scenario(Pattern.WAKE, WaitStrategy.SELECT, 16, 1, Flight.TURN, false),
        new Scenario(Pattern.WAKE, WaitStrategy.BLOCKING, 16, 1, Flight.TURN, true));
  }

  @ParameterizedTest
  @MethodSource("wakeUps")
  void wakeUpsAreMeasuredWithTheirProcessorTime(Scenario scenario) throws Exception {
    ScenarioRun run = run(scenario, 5 * SHORT, Pinning.decide(true));

    assertThat(run.medianNs(Measured.ROUND_TRIP)).isPositive();
    assertThat(run.value(Measured.CPU_PER_TRIP)).isPositive();
  }

  @ParameterizedTest
  @Tag("long")
  @MethodSource("otherWakeUps")
  void otherWakeUpsAreMeasuredWithTheirProcessorTime(Scenario scenario) throws Exception {
    wakeUpsAreMeasuredWithTheirProcessorTime(scenario);
  }

  @Test
  void aColdStartIsTimed() throws Exception {
    ScenarioRun run = run(new Scenario(Pattern.COLD, WaitStrategy.SELECT, 16, 1, Flight.TURN));

    assertThat(run.value(Measured.TRIPS_PER_SECOND)).isPositive();
    assertThat(run.histogram(Measured.ROUND_TRIP).getTotalCount()).isPositive();
    assertThat(run.value(Measured.START_TO_ECHOES_NS)).isPositive();
  }

  static Stream<Scenario> roundTrips() {
    return Stream.of(
        new Scenario(Pattern.BLOCKING, WaitStrategy.BLOCKING, 8 << 20, 1, Flight.TURN),
        new Scenario(Pattern.SELECT_NOW, WaitStrategy.SELECT_NOW, 8 << 20, 2, Flight.ALL),
        new Scenario(Pattern.SELECT, WaitStrategy.SELECT, 16, 5, Flight.TURN));
  }

  static Stream<Scenario> otherRoundTrips() {
    return Stream.of(
        new Scenario(Pattern.BLOCKING, WaitStrategy.BLOCKING, 16, 1, Flight.TURN),
        new Scenario(Pattern.SELECT_NOW, WaitStrategy.SELECT_NOW, 16, 1, Flight.TURN),
        new Scenario(Pattern.SELECT, WaitStrategy.SELECT, 1_000, 5, Flight.ALL));
  }

  @ParameterizedTest
  @MethodSource("roundTrips")
  void roundTripsAreMeasured(Scenario scenario) throws Exception {
    ScenarioRun run = run(scenario);

    assertThat(run.medianNs(Measured.ROUND_TRIP)).isPositive();
    assertThat(run.value(Measured.TRIPS_PER_SECOND)).isPositive();
  }

  @ParameterizedTest
  @Tag("long")
  @MethodSource("otherRoundTrips")
  void otherRoundTripsAreMeasured(Scenario scenario) throws Exception {
    roundTripsAreMeasured(scenario);
  }

  static Stream<Scenario> oneWay() {
    return Stream.of(
        new Scenario(Pattern.ONEWAY, WaitStrategy.BLOCKING, 16, 1, Flight.TURN),
        new Scenario(Pattern.ONEWAY, WaitStrategy.BLOCKING, 65_536, 1, Flight.TURN),
        new Scenario(Pattern.ONEWAY, WaitStrategy.BLOCKING, 1_000, 3, Flight.TURN));
  }

  @ParameterizedTest
  @MethodSource("oneWay")
  void messagesOneWayAreMeasured(Scenario scenario) throws Exception {
    ScenarioRun run = run(scenario);

    assertThat(run.value(Measured.GIGABYTES_PER_SECOND) * 1e9)
        .isEqualTo(run.value(Measured.MESSAGES_PER_SECOND) * scenario.sizeBytes(), within(1.0));
  }

  @ParameterizedTest
  @EnumSource(names = "SELECT")
  void allocationIsMeasured(WaitStrategy waiting) throws Exception {
    allocationIsMeasured(waiting, 20 * SHORT);
  }

  private void allocationIsMeasured(WaitStrategy waiting, double seconds) throws Exception {
    Scenario scenario = new Scenario(Pattern.ALLOC, waiting, 16, 1, Flight.TURN);
    ScenarioRun run = run(scenario, seconds, Pinning.decide(false));

    assertThat(run.value(Measured.CLIENT_ALLOCATED)).isBetween(0.0, 10_000.0);
    assertThat(run.value(Measured.SERVER_ALLOCATED)).isBetween(0.0, 10_000.0);
  }

  /** Two sides that spin beside other tests need long for the 2,100 round trips of a mean. */
  @ParameterizedTest
  @Tag("long")
  @EnumSource(names = "SELECT", mode = EnumSource.Mode.EXCLUDE)
  void allocationIsMeasuredInOtherWaysOfWaiting(WaitStrategy waiting) throws Exception {
    allocationIsMeasured(waiting, 200 * SHORT);
  }

  @Test
  void idleConnectionsAreWatched() throws Exception {
    ScenarioRun run = run(new Scenario(Pattern.IDLE, WaitStrategy.SELECT, 16, 4, Flight.TURN));

    assertThat(run.value(Measured.IDLE_CPU)).isBetween(0.0, 200.0);
  }

  @Test
  void manyConnectionsAreComparedWithOne() throws Exception {
    ScenarioRun run = run(new Scenario(Pattern.MANY, WaitStrategy.SELECT, 16, 20, Flight.TURN));

    assertThat(run.medianNs(Measured.ROUND_TRIP_ONE)).isPositive();
    assertThat(run.medianNs(Measured.ROUND_TRIP)).isPositive();
    assertThat(run.value(Measured.SHM_PER_CONNECTION)).isNotNaN();
    assertThat(run.value(Measured.MAPPED_PER_CONNECTION)).isZero();
    assertThat(run.value(Measured.MAPPINGS_PER_CONNECTION)).isNotNaN();
  }

  @Test
  void aBusyConnectionAmongIdleOnesIsComparedWithOneAlone() throws Exception {
    ScenarioRun run = run(new Scenario(Pattern.SCALE, WaitStrategy.SELECT, 16, 20, Flight.TURN));

    assertThat(run.medianNs(Measured.ROUND_TRIP_ONE)).isPositive();
    assertThat(run.medianNs(Measured.ROUND_TRIP_ONE_AGAIN)).isPositive();
    assertThat(run.medianNs(Measured.ROUND_TRIP)).isPositive();
    assertThat(run.value(Measured.CONNECT_NS)).isPositive();
    assertThat(run.value(Measured.SET_UP_NS)).isGreaterThan(run.value(Measured.CONNECT_NS));
    assertThat(run.value(Measured.VISIT_NS)).isPositive();
    assertThat(run.value(Measured.TEAR_DOWN_NS)).isPositive();
    assertThat(run.value(Measured.DESCRIPTORS_PER_CONNECTION)).isBetween(2.0, 3.0);
    assertThat(run.value(Measured.CLIENT_MEMORY)).isNotNaN();
    assertThat(run.value(Measured.SERVER_MEMORY)).isNotNaN();
  }
}
