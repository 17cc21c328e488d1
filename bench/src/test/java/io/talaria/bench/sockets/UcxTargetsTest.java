// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Spread;
import io.talaria.bench.harness.Target;
import java.util.List;
import org.junit.jupiter.api.Test;

class UcxTargetsTest {
  private static final Target OF_SHM = new Target("≥ 20×", 1, false);

  private static Row row(String id, Quantity quantity, double talaria, double ucx) {
    return new Row(
        id,
        id,
        quantity,
        Spread.of(List.of(1.0)),
        Spread.of(List.of(talaria)),
        Double.isNaN(ucx) ? null : Spread.of(List.of(ucx)),
        OF_SHM);
  }

  private static Target target(String id, Quantity quantity, double talaria, double ucx) {
    return UcxTargets.of(List.of(row(id, quantity, talaria, ucx))).getFirst().target();
  }

  @Test
  void aBlockingRoundTripMayTakeTwoAndAHalfTimesAsLong() {
    assertThat(target("blocking/16B", Quantity.TIME, 500, 200))
        .isEqualTo(new Target("≤ 2.5× UCX in C", 2.5, true));
    assertThat(target("blocking/16B", Quantity.TIME, 501, 200).met()).isFalse();
  }

  @Test
  void largeMessagesMustGoHalfAsFast() {
    assertThat(target("oneway/65536B", Quantity.GIGABYTES_PER_SECOND, 5, 10))
        .isEqualTo(new Target("≥ 0.5× UCX in C", 0.5, true));
    assertThat(target("oneway/65536B", Quantity.GIGABYTES_PER_SECOND, 4.9, 10).met()).isFalse();
  }

  @Test
  void theTargetsOfSharedMemoryDoNotCount() {
    assertThat(target("selectNow/16B", Quantity.TIME, 500, 200)).isNull();
    assertThat(target("idle/16B/100-conn", Quantity.PERCENT, 5, Double.NaN)).isNull();
  }
}
