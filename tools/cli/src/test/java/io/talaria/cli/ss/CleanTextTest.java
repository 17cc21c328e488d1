// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.monitor.Harmless;
import io.talaria.nio.counters.file.CountersHeader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The two modules whose text is shown here have no common module to clean it. */
class CleanTextTest {
  @Test
  void countersAndPortsReplaceTheSameCharacters() {
    for (int point = 0; point <= Character.MAX_CODE_POINT; point++) {
      if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
        continue; // UTF-8 has none
      }
      String text = "<" + Character.toString(point) + ">";
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      String counters = CountersHeader.printable(ByteBuffer.wrap(bytes), 0, bytes.length);
      if (!counters.equals(Harmless.text(text))) {
        assertThat(Harmless.text(text)).as("U+%04X", point).isEqualTo(counters);
      }
    }
  }
}
