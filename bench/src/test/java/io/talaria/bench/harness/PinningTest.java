// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PinningTest {
  @Test
  void nothingIsPinnedWhenNotWanted() {
    Pinning pinning = Pinning.decide(false);

    assertThat(pinning.active()).isFalse();
    assertThat(pinning.describe()).isEqualTo("none (not wanted)");
    assertThat(Pinning.prefix(pinning.serverCore())).isEmpty();
  }

  @Test
  void aCoreBecomesTheWordsOfTaskset() {
    assertThat(Pinning.prefix(1)).containsExactly("taskset", "-c", "1");
  }

  @Test
  void programsAreFoundOnThePath() {
    assertThat(Pinning.find("sh")).isNotNull();
    assertThat(Pinning.find("no-such-program-of-talaria")).isNull();
  }
}
