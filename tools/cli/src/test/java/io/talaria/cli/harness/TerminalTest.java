// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is known about the terminal. */
@Timeout(60)
class TerminalTest {
  @Test
  void itsSizeIsWhatSttySays() {
    assertThat(Terminal.parse("50 132")).isEqualTo(new Terminal.Size(50, 132));
  }

  @Test
  void aSizeThatNobodyKnowsIsTheUsualOne() {
    Terminal.Size usual = new Terminal.Size(24, 80);
    assertThat(Terminal.parse("0 0")).isEqualTo(usual);
    assertThat(Terminal.parse("")).isEqualTo(usual);
    assertThat(Terminal.parse("24")).isEqualTo(usual);
    assertThat(Terminal.parse("999999999999 80")).isEqualTo(usual);
  }
}
