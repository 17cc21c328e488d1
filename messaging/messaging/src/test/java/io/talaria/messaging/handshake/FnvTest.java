// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The hash travels, so it must stay what its authors published. */
class FnvTest {
  @Test
  void thePublishedValuesComeOut() {
    assertThat(Fnv.hash("")).isEqualTo(0xcbf29ce484222325L);
    assertThat(Fnv.hash("a")).isEqualTo(0xaf63dc4c8601ec8cL);
    assertThat(Fnv.hash("foobar")).isEqualTo(0x85944171f73967e8L);
  }

  @Test
  void bytesAbove127CountWithoutSign() {
    assertThat(Fnv.hash("\u00e4")).isEqualTo(0xac21207b7181582L);
  }
}
