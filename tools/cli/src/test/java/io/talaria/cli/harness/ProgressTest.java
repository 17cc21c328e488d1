// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressTest {
  @Test
  void aTerminalHasABarOthersNothingUnlessTheyAskForLines() {
    assertThat(Progress.Form.wanted(null, true)).isEqualTo(Progress.Form.BAR);
    assertThat(Progress.Form.wanted(null, false)).isEqualTo(Progress.Form.NONE);
    assertThat(Progress.Form.wanted("", false)).isEqualTo(Progress.Form.NONE);
    assertThat(Progress.Form.wanted("lines", false)).isEqualTo(Progress.Form.LINES);
    assertThat(Progress.Form.wanted("lines", true)).isEqualTo(Progress.Form.LINES);
  }

  private static String shown(Progress.Form form) {
    StringWriter text = new StringWriter();
    try (Progress progress = new Progress(new PrintWriter(text), form, 100)) {
      progress.step("first", 50);
      progress.say("half");
      progress.step("second", 50);
    }
    return text.toString();
  }

  @Test
  void linesAreOneForEachStep() {
    assertThat(shown(Progress.Form.LINES).lines())
        .containsExactly("first", "first: half", "second");
  }

  @Test
  void whereNothingIsWantedNothingIsPrinted() {
    assertThat(shown(Progress.Form.NONE)).isEmpty();
  }

  @Test
  void onATerminalTheBarAdvancesByStepsAndDisappears() {
    StringWriter text = new StringWriter();
    try (Progress progress = new Progress(new PrintWriter(text), Progress.Form.BAR, 1_000_000)) {
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
