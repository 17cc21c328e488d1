// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlanTest {
  @Test
  void theDefaultsCoverEveryMeasure() {
    Plan plan = new Plan(Pattern.usual(), List.of(), 64, 100, 1_000, 10_000);

    assertThat(plan.scenarios().stream().map(Scenario::id))
        .doesNotHaveDuplicates()
        .containsExactly(
            "blocking/16B",
            "selectNow/16B",
            "selectNow/16B/64-conn",
            "selectNow/16B/64-in-flight",
            "select/16B",
            "select/16B/64-conn",
            "select/16B/64-in-flight",
            "oneway/16B",
            "oneway/16B/64-conn",
            "oneway/65536B",
            "oneway/65536B/64-conn",
            "idle/16B/100-conn",
            "many/16B/1000-conn",
            "alloc/blocking/16B",
            "alloc/selectNow/16B",
            "alloc/selectNow(Consumer)/16B",
            "alloc/select/16B");
  }

  @Test
  void aSizeThatIsNamedTwiceIsMeasuredOnce() {
    Plan plan = new Plan(Set.of(Pattern.ONEWAY), List.of(4_096, 4_096), 1, 1, 2, 2);

    assertThat(plan.scenarios().stream().map(Scenario::id)).containsExactly("oneway/4096B");
  }

  @Test
  void scaleIsMeasuredOnlyWhenAskedFor() {
    Plan plan = new Plan(Set.of(Pattern.SCALE), List.of(), 64, 100, 1_000, 10_000);

    assertThat(plan.scenarios().stream().map(Scenario::id)).containsExactly("scale/16B/10000-conn");
    assertThat(Pattern.usual()).doesNotContain(Pattern.SCALE);
  }

  @Test
  void wakeUpsAreMeasuredWithACoreEachAndOnOne() {
    Plan plan = new Plan(Set.of(Pattern.WAKE), List.of(), 64, 100, 1_000, 10_000);

    assertThat(plan.scenarios().stream().map(Scenario::id))
        .containsExactly(
            "wake/blocking/16B",
            "wake/select/16B",
            "wake/blocking/16B/one-core",
            "wake/select/16B/one-core");
    assertThat(Pattern.usual()).doesNotContain(Pattern.WAKE);
  }

  @Test
  void aColdStartIsMeasuredWithACoreEachAndOnOne() {
    Plan plan = new Plan(Set.of(Pattern.COLD), List.of(), 64, 100, 1_000, 10_000);

    assertThat(plan.scenarios().stream().map(Scenario::id))
        .containsExactly(
            "cold/blocking/16B",
            "cold/select/16B",
            "cold/blocking/16B/one-core",
            "cold/select/16B/one-core");
    assertThat(Pattern.usual()).doesNotContain(Pattern.COLD);
  }

  @Test
  void oneConnectionLeavesOutTheVariantsWithSeveral() {
    Plan plan = new Plan(Set.of(Pattern.SELECT_NOW), List.of(16, 1_024), 1, 1, 2, 2);

    assertThat(plan.scenarios().stream().map(Scenario::label))
        .containsExactly("16 B round trip, selectNow", "1 KiB round trip, selectNow");
  }
}
