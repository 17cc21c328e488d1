// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What a terminal must not get from others. */
class PrintableTextTest {
  @Test
  void usualTextStaysAsItIs() {
    assertThat(PrintableText.of(" größe 日本 𝄞 ~ ")).isEqualTo(" größe 日本 𝄞 ~ ");
    assertThat(PrintableText.of("")).isEmpty();
  }

  @Test
  void escapesDirectionsAndControlsAreReplaced() {
    assertThat(PrintableText.of("\u001b[2Ja\u0007b\u202ec\u009bd\u2028e\u2029f\ng\0h\u007fi"))
        .isEqualTo("?[2Ja?b?c?d?e?f?g?h?i");
  }

  @Test
  void whatIsNoCharacterOrNobodysIsReplaced() {
    assertThat(PrintableText.of("a\ud800b\ue000c\uffffd")).isEqualTo("a?b?c?d");
  }

  @Test
  void bytesThatAreNoAsciiDoNoHarm() {
    byte[] hostile = {'a', (byte) 0x9b, '2', 'J', 0x1b};
    assertThat(PrintableText.of(new String(hostile, StandardCharsets.US_ASCII)))
        .isEqualTo("a\ufffd2J?");
  }
}
