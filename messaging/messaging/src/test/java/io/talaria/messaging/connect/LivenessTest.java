// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Whose silence it is. */
class LivenessTest {
  private static final long SECOND_NS = 1_000_000_000L;

  @Test
  void silenceAddsUpFromLookToLookAndEndsWithAWord() {
    Liveness liveness = new Liveness(-SECOND_NS);
    for (int i = 1; i <= 20; i++) {
      assertThat(liveness.look(false, -SECOND_NS + i * SECOND_NS / 2)).isEqualTo(i * SECOND_NS / 2);
    }
    assertThat(liveness.ns()).isEqualTo(10 * SECOND_NS);
    assertThat(liveness.look(true, 10 * SECOND_NS)).isZero();
    assertThat(liveness.look(false, 10 * SECOND_NS + 1)).isEqualTo(1);
  }

  /** A process that was stopped for a minute has not listened for a minute. */
  @Test
  void timeInWhichNobodyLookedIsNobodysSilence() {
    Liveness liveness = new Liveness(0);
    assertThat(liveness.look(false, 60 * SECOND_NS)).isEqualTo(Liveness.MAX_STEP_NS);
    assertThat(liveness.look(false, 60 * SECOND_NS + 5)).isEqualTo(Liveness.MAX_STEP_NS + 5);
  }
}
