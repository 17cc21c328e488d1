// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.screen;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.harness.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The terminal's alternate screen. */
@Timeout(60)
class ScreenTest {
  private final ByteArrayOutputStream terminal = new ByteArrayOutputStream();
  private final PrintWriter out = new PrintWriter(terminal, true, StandardCharsets.UTF_8);

  private static List<AttributedString> lines(String... texts) {
    return List.of(texts).stream().map(AttributedString::new).toList();
  }

  private String shown() {
    return terminal.toString(StandardCharsets.UTF_8);
  }

  @Test
  void isTakenRefreshedInPlaceAndGivenBack() {
    try (Screen screen = Screen.on(out, terminal)) {
      screen.draw(lines("one", "two"), new Terminal.Size(24, 80));
      screen.draw(lines("1"), new Terminal.Size(24, 80));
    }
    assertThat(shown())
        .isEqualTo(
            Screen.ENTER
                + "\u001b[Hone\u001b[K\r\ntwo\u001b[K\u001b[J"
                + "\u001b[H1\u001b[K\u001b[J"
                + Screen.LEAVE);
  }

  @Test
  void isNeverWrittenBeyondItsEdges() {
    try (Screen screen = Screen.on(out, terminal)) {
      screen.draw(lines("12345", "123456", "third"), new Terminal.Size(2, 5));
    }
    assertThat(shown()).contains("12345\u001b[K\r\n1234…\u001b[K\u001b[J");
    assertThat(shown()).doesNotContain("third");
  }

  @Test
  void hasStylesThatEndWithTheirText() {
    try (Screen screen = Screen.on(out, terminal)) {
      screen.draw(
          List.of(new AttributedString("new", AttributedStyle.INVERSE)), new Terminal.Size(2, 5));
    }
    assertThat(shown()).contains("\u001b[7mnew\u001b[0m\u001b[K");
  }

  @Test
  void isGivenBackOnce() {
    Screen screen = Screen.on(out, terminal);
    screen.close();
    screen.close();
    screen.draw(lines("too late"), new Terminal.Size(24, 80));
    assertThat(shown()).isEqualTo(Screen.ENTER + Screen.LEAVE);
  }
}
