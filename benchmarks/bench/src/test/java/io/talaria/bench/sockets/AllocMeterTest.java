// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AllocMeterTest {
  private static final int ENOUGH = 50 * AllocMeter.BATCH;

  private byte[] kept;

  @Test
  void nothingAllocatedIsNothing() {
    AllocMeter meter = new AllocMeter();
    for (int i = 0; i < ENOUGH; i++) {
      meter.tick();
    }
    assertThat(meter.enough()).isTrue();
    assertThat(meter.bytesPerOperation()).isZero();
  }

  @Test
  void whatEachOperationAllocatesIsCounted() {
    AllocMeter meter = new AllocMeter();
    for (int i = 0; i < ENOUGH; i++) {
      kept = new byte[100];
      meter.tick();
    }
    assertThat(kept).hasSize(100);
    assertThat(meter.bytesPerOperation()).isBetween(100.0, 140.0);
  }

  @Test
  void tooFewOperationsGiveNoFigure() {
    AllocMeter meter = new AllocMeter();
    for (int i = 0; i < ENOUGH; i++) {
      meter.tick();
    }
    meter.restart();
    assertThat(meter.enough()).isFalse();
    assertThat(meter.bytesPerOperation()).isNaN();
  }
}
