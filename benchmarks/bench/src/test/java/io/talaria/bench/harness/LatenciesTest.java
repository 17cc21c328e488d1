// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.bench.harness.Latencies.Percentiles;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  @Test
  void anEncodedHistogramIsTheSameAfterDecoding() {
    Histogram histogram = Latencies.histogram();
    for (int i = 1; i <= 1_000; i++) {
      Latencies.record(histogram, i * 100L);
    }

    Histogram copy = Latencies.decode(Latencies.encode(histogram));

    assertThat(Percentiles.of(copy)).isEqualTo(Percentiles.of(histogram));
    assertThat(Percentiles.of(copy).count()).isEqualTo(1_000);
    assertThat(Percentiles.of(copy).p50()).isBetween(50_000.0, 50_100.0);
    assertThat(Percentiles.of(copy).p999()).isBetween(99_900.0, 100_000.0);
  }

  @Test
  void whatLiesOutsideTheRangeIsRecordedAtItsEnds() {
    Histogram histogram = Latencies.histogram();
    Latencies.record(histogram, -5);
    Latencies.record(histogram, Long.MAX_VALUE);

    assertThat(histogram.getTotalCount()).isEqualTo(2);
    assertThat(histogram.getMinNonZeroValue()).isEqualTo(1);
  }

  @Test
  void otherTextIsNoHistogram() {
    assertThatThrownBy(() -> Latencies.decode("AAAA")).isInstanceOf(RuntimeException.class);
  }
}
