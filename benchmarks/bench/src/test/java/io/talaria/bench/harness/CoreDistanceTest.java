// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CoreDistanceTest {
  private static final int MANY = 20;

  @Test
  void aDistanceIsBetweenThatOfOneCoreAndAWakeUp() throws InterruptedException {
    assumeTrue(Cores.allowed().size() == 2, "measured with two cores only");
    OptionalDouble ns = OptionalDouble.empty();
    while (ns.isEmpty()) { // other tests may have the cores for a while
      ns = CoreDistance.measure();
    }
    assertThat(ns.getAsDouble()).isBetween(1.0, 100_000.0);
  }

  /** Threads that never run at the same time hand a word over once in a slice of the scheduler. */
  @Test
  void busyProcessesDoNotMakeItLong() throws Exception {
    try (BusyProcesses busy = BusyProcesses.start(4)) {
      for (int i = 0; i < MANY; i++) {
        CoreDistance.measure().ifPresent(ns -> assertThat(ns).isPositive());
      }
      busy.check();
    }
  }

  @Test
  void severalAreOneLine() {
    assertThat(CoreDistance.describe(List.of(44.6, 200.2)))
        .isEqualTo("ns from core to core before each iteration: 45 200");
    assertThat(CoreDistance.describe(List.of())).isEmpty();
  }
}
