// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.harness.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The terminal's alternate screen. */
@Timeout(60)
class LiveScreenTest {
  private final StringWriter terminal = new StringWriter();

  @Test
  void isTakenRefreshedInPlaceAndGivenBack() {
    try (LiveScreen screen = new LiveScreen(new PrintWriter(terminal))) {
      screen.show(List.of("one", "two"), new Terminal.Size(24, 80));
      screen.show(List.of("1"), new Terminal.Size(24, 80));
    }
    assertThat(terminal.toString())
        .isEqualTo(
            LiveScreen.ENTER
                + "\u001b[Hone\u001b[K\r\ntwo\u001b[K\u001b[J"
                + "\u001b[H1\u001b[K\u001b[J"
                + LiveScreen.LEAVE);
  }

  @Test
  void isNeverWrittenBeyondItsEdges() {
    try (LiveScreen screen = new LiveScreen(new PrintWriter(terminal))) {
      screen.show(List.of("12345", "123456", "third"), new Terminal.Size(2, 5));
    }
    assertThat(terminal.toString()).contains("12345\u001b[K\r\n1234…\u001b[K\u001b[J");
    assertThat(terminal.toString()).doesNotContain("third");
  }

  @Test
  void isGivenBackOnce() {
    LiveScreen screen = new LiveScreen(new PrintWriter(terminal));
    screen.close();
    screen.close();
    screen.show(List.of("too late"), new Terminal.Size(24, 80));
    assertThat(terminal.toString()).isEqualTo(LiveScreen.ENTER + LiveScreen.LEAVE);
  }
}
