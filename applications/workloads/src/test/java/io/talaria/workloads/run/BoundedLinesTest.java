// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BoundedLinesTest {
  @Test
  void linesEndAsEverywhere() throws IOException {
    assertThat(lines("a\n\nb\r\nc\rd\r\r\ne")).containsExactly("a", "", "b", "c", "d", "", "e");
    assertThat(lines("a\n")).containsExactly("a");
    assertThat(lines("a\r")).containsExactly("a");
    assertThat(lines("")).isEmpty();
  }

  @Test
  void aLineThatIsTooLongIsCutAndTheNextOneIsWhole() throws IOException {
    assertThat(lines("1234\n12345\n123456789\r\nnext\n123456"))
        .containsExactly("1234", "12345", "12345", "next", "12345");
  }

  private static List<String> lines(String text) throws IOException {
    BoundedLines in = new BoundedLines(new StringReader(text), 4);
    List<String> lines = new ArrayList<>();
    for (String line = in.next(); line != null; line = in.next()) {
      lines.add(line);
    }
    return lines;
  }
}
