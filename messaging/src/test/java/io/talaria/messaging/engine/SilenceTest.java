// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Whose silence it is. */
class SilenceTest {
  private static final long SECOND_NS = 1_000_000_000L;

  @Test
  void silenceAddsUpFromLookToLookAndEndsWithAWord() {
    Silence silence = new Silence(-SECOND_NS);
    for (int i = 1; i <= 20; i++) {
      assertThat(silence.look(false, -SECOND_NS + i * SECOND_NS / 2)).isEqualTo(i * SECOND_NS / 2);
    }
    assertThat(silence.ns()).isEqualTo(10 * SECOND_NS);
    assertThat(silence.look(true, 10 * SECOND_NS)).isZero();
    assertThat(silence.look(false, 10 * SECOND_NS + 1)).isEqualTo(1);
  }

  /** A process that was stopped for a minute has not listened for a minute. */
  @Test
  void timeInWhichNobodyLookedIsNobodysSilence() {
    Silence silence = new Silence(0);
    assertThat(silence.look(false, 60 * SECOND_NS)).isEqualTo(Silence.MAX_STEP_NS);
    assertThat(silence.look(false, 60 * SECOND_NS + 5)).isEqualTo(Silence.MAX_STEP_NS + 5);
  }
}
