// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.talaria.cli.harness.HarnessException;
import org.junit.jupiter.api.Test;

class UcxPerftestTest {
  @Test
  void theRoundTripIsTwiceTheLatencyItPrints() throws HarnessException {
    double[] columns =
        UcxPerftest.parse(
            """
            iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
            500000,0.165,0.174,0.174,87.58,87.58,5739544,5739544
            """);

    assertThat(UcxPerftest.roundTripNs(columns)).isCloseTo(330, within(0.001));
  }

  @Test
  void figuresOnTheWayCountIfItIsStopped() throws HarnessException {
    double[] columns =
        UcxPerftest.parse(
            """
            iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
            [thread 0]363718,0.180,1.375,1.375,11.10,11.10,727239,727239
            """);

    assertThat(columns[0]).isEqualTo(363_718);
    assertThat(UcxPerftest.roundTripNs(columns)).isCloseTo(360, within(0.001));
  }

  @Test
  void otherOutputIsToldAsItIs() {
    assertThatThrownBy(() -> UcxPerftest.parse("could not connect\n"))
        .isInstanceOf(HarnessException.class)
        .hasMessage("ucx_perftest printed no figures: could not connect");
  }
}
