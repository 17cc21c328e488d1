// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressTest {
  @Test
  void withoutATerminalEachStepIsALine() {
    StringWriter text = new StringWriter();
    try (Progress progress = new Progress(new PrintWriter(text), false, 100)) {
      progress.step("first", 50);
      progress.say("half");
      progress.step("second", 50);
    }
    assertThat(text.toString().lines()).containsExactly("first", "first: half", "second");
  }

  @Test
  void onATerminalTheBarAdvancesByStepsAndDisappears() {
    StringWriter text = new StringWriter();
    try (Progress progress = new Progress(new PrintWriter(text), true, 1_000_000)) {
      progress.step("first", 500_000);
      progress.step("second", 500_000);
      progress.say("half");
    }
    assertThat(text.toString())
        .contains(" 50 % second", " 50 % second: half")
        .endsWith("\r\u001b[2K");
  }

  @Test
  void theBarStaysWithinItsEnds() {
    assertThat(Progress.bar(-1)).endsWith("   0 %").doesNotContain("█");
    assertThat(Progress.bar(2)).endsWith(" 100 %").doesNotContain("░");
  }
}
