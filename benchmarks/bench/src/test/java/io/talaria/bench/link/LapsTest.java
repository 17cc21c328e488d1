// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LapsTest {
  private static final long STALL_NS = TimeUnit.MILLISECONDS.toNanos(200);

  @Test
  void inTheOpenLoopAStallCountsForAllThatHadToWait() {
    long startNs = System.nanoTime();
    Laps laps = new Laps(1_000);
    for (int i = 0; i < 150; i++) {
      laps.begin();
      if (i == 10) {
        spin(STALL_NS);
      }
      laps.end();
    }
    long tookNs = System.nanoTime() - startNs;
    // One operation was slow, but those due meanwhile were late.
    assertThat(laps.sinceBegun().getValueAtPercentile(50)).isLessThan(STALL_NS / 2);
    assertThat(laps.sinceDue().getCountBetweenValues(STALL_NS / 2, tookNs))
        .isGreaterThanOrEqualTo(90);
    assertThat(laps.sinceDue().getTotalCount()).isEqualTo(150);
  }

  @Test
  void theClosedLoopKnowsNoTimesAtWhichOperationsAreDue() {
    Laps laps = new Laps(0);
    laps.begin();
    laps.end();
    assertThat(laps.sinceDue()).isNull();
    assertThat(laps.sinceBegun().getTotalCount()).isEqualTo(1);
  }

  private static void spin(long ns) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < ns) {
      Thread.onSpinWait();
    }
  }
}
