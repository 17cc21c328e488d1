// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples, as docs/mpj.md runs them. */
@Timeout(300)
class ExamplesTest {
  private static String said(int ranks, String example) throws Exception {
    return EndedJob.out(List.of("-np", "" + ranks, "io.talaria.mpj.examples." + example));
  }

  @Test
  void hello() throws Exception {
    assertThat(said(3, "Hello").lines())
        .containsExactlyInAnyOrder("hello from 0 of 3", "hello from 1 of 3", "hello from 2 of 3");
  }

  @Test
  void ring() throws Exception {
    assertThat(said(3, "Ring")).isEqualTo("the number came back as 3\n");
    assertThat(said(1, "Ring")).isEqualTo("the number came back as 0\n");
  }

  @Test
  void pi() throws Exception {
    assertThat(said(3, "Pi")).isEqualTo("3.141592654 by 3 ranks\n");
  }

  @Test
  void heat() throws Exception {
    assertThat(said(3, "Heat")).isEqualTo("3 ranks and one alone: equal to the bit\n");
  }

  @Test
  void objects() throws Exception {
    assertThat(said(4, "Objects"))
        .isEqualTo("factorial of 1: 1\nfactorial of 2: 2\nfactorial of 3: 6\n");
  }

  @Test
  void overlap() throws Exception {
    assertThat(said(3, "Overlap").lines())
        .hasSize(3)
        .allMatch(line -> line.matches("rank [0-2] has (waited, and )?computed 1000000"));
  }
}
