// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.bench.harness.TransportProbe.Transports;
import io.talaria.cli.harness.HarnessException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PairTest {
  private static final Transports PARTLY =
      new Transports("p", 2, 1, Map.of("tcp (peer-not-accelerated)", 1), 100, 200);

  @Test
  void aConnectionThatStayedPlainFailsTheAcceleratedRunLoudly() {
    assertThatThrownBy(() -> Pair.requireAccelerated(Implementation.TALARIA, "client", PARTLY, 3))
        .isInstanceOf(HarnessException.class)
        .hasMessage(
            "NOT ACCELERATED: of 3 connections, the client saw 2 on a transport: 1 tcp (peer-not-accelerated)");
  }

  @Test
  void connectionsThatNobodyKnowsOfFailTheAcceleratedRunToo() {
    Transports none = new Transports("sun.nio.ch.X", 0, 0, Map.of(), 0, 0);

    assertThatThrownBy(() -> Pair.requireAccelerated(Implementation.TALARIA, "client", none, 1))
        .isInstanceOf(HarnessException.class)
        .hasMessageEndingWith("no connection known to sun.nio.ch.X");
  }

  @Test
  void thePlainRunMayBePlain() {
    assertThatCode(() -> Pair.requireAccelerated(Implementation.JDK, "client", PARTLY, 3))
        .doesNotThrowAnyException();
  }
}
