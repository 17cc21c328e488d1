// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.talaria.bench.harness.UcxPerftest;
import io.talaria.cli.harness.HarnessException;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UcxPlanTest {
  /** A 165 ns average, 2,000 MiB/s and 6 million messages a second. */
  private static final String OUTPUT = "500000,0.160,0.160,0.165,2000,2000,6000000,6000000";

  @Test
  void atomicsHaveFourAndEightBytesWhateverIsAskedFor() {
    List<Case> cases =
        UcxPlan.cases(
            UcxPlan.operations(List.of("swap", "tag")),
            List.of(Kind.LATENCY),
            List.of(64),
            1,
            false);

    assertThat(cases)
        .containsExactly(
            new Case(Operation.TAG, Kind.LATENCY, 64, 1),
            new Case(Operation.SWAP, Kind.LATENCY, 4, 1),
            new Case(Operation.SWAP, Kind.LATENCY, 8, 1));
  }

  @Test
  void aSizeThatIsNamedTwiceIsMeasuredOnce() {
    List<Integer> sizes = List.of(64, 64);
    assertThat(UcxPlan.cases(EnumSet.of(Operation.TAG), List.of(Kind.LATENCY), sizes, 1, false))
        .containsExactly(new Case(Operation.TAG, Kind.LATENCY, 64, 1));
  }

  @Test
  void namesOfManyOperationsAreUnderstood() {
    assertThat(UcxPlan.operations(List.of("all"))).isEqualTo(EnumSet.allOf(Operation.class));
    assertThat(UcxPlan.operations(List.of("atomics"))).hasSize(10).contains(Operation.FETCH_XOR);
    assertThat(UcxPlan.operations(List.of()))
        .containsExactly(Operation.TAG, Operation.STREAM, Operation.PUT);
    assertThatThrownBy(() -> UcxPlan.operations(List.of("tagg")))
        .hasMessageStartingWith("'tagg' is no operation; there are: tag, tag-sync, stream,");
  }

  @Test
  void perftestPrintsHalfOfWhatIsAnswered() throws HarnessException {
    UcxPerftest.Figures figures = UcxPerftest.parse(OUTPUT);

    assertThat(new Case(Operation.TAG, Kind.LATENCY, 16, 1).figure(figures))
        .isCloseTo(330, within(1e-6));
    assertThat(new Case(Operation.GET, Kind.LATENCY, 16, 1).figure(figures))
        .isCloseTo(165, within(1e-6));
    assertThat(new Case(Operation.TAG, Kind.THROUGHPUT, 16, 1).figure(figures)).isEqualTo(6e6);
  }

  @Test
  void perftestGetsTheSameWindow() {
    assertThat(new Case(Operation.GET, Kind.THROUGHPUT, 8, 1).test(10, "").options())
        .containsExactly("-O", "32");
    assertThat(new Case(Operation.GET, Kind.LATENCY, 8, 1).test(10, "").options()).isEmpty();
    assertThat(new Case(Operation.STREAM_DATA, Kind.THROUGHPUT, 8, 2).test(10, "").options())
        .containsExactly("-r", "recv_data", "-T", "2", "-M", "multi");
    assertThat(new Case(Operation.XOR, Kind.LATENCY, 8, 1).hasTest()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "TAG, LATENCY, 16, 1.49, true",
        "TAG, LATENCY, 16, 1.51, false",
        "TAG, LATENCY, 64, 9, -",
        "PUT, THROUGHPUT, 1048576, 0.81, true",
        "STREAM, THROUGHPUT, 8, 0.79, false",
        "GET, THROUGHPUT, 8, 0.1, -",
      })
  void targets(Operation operation, Kind kind, int size, double ratio, Boolean met) {
    Case what = new Case(operation, kind, size, 1);
    assertThat(what.target(ratio) == null ? null : what.target(ratio).met()).isEqualTo(met);
    assertThat(new Case(operation, kind, size, 2).target(ratio)).as("of two threads").isNull();
  }

  @Test
  void theRatioIsToWhatPerftestMeasuredOnBothSidesOfTheIteration() {
    UcxAttempt iteration = UcxAttempt.of(List.of(100.0, 300.0, 400.0), 150.0, 250.0, null, true);

    assertThat(iteration.ratio()).isEqualTo(1.5);
    assertThat(iteration.unrest()).isCloseTo(1.667, within(0.001));
    assertThat(UcxAttempt.of(List.of(300.0), null, null, null, true).unrest() > 1.25)
        .as("repeated without perftest")
        .isFalse();
  }

  @Test
  void aFigureIsOfOneOperationOrOfAllThreadsTogether() {
    assertThat(new Case(Operation.TAG, Kind.LATENCY, 16, 2).figure(1_000, 500_000)).isEqualTo(500);
    assertThat(new Case(Operation.TAG, Kind.THROUGHPUT, 16, 2).figure(1_000, 500_000))
        .isEqualTo(4e6);
  }
}
