// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What others chose to call themselves. */
@Timeout(60)
class HarmlessTest {
  @Test
  void usualNamesStayAsTheyAre() {
    assertThat(Harmless.text("node17 mlx5_0\0rubbish".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo("node17 mlx5_0");
    assertThat(Harmless.text("größe 日本".getBytes(StandardCharsets.UTF_8))).isEqualTo("größe 日本");
  }

  @Test
  void escapesDirectionsAndControlsAreReplaced() {
    assertThat(Harmless.text("\u001b[2Ja\u0007b\u202ec\u009bd".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo("?[2Ja?b?c?d");
  }

  @Test
  void whatIsNoUtf8IsReadAsLatin1() {
    assertThat(Harmless.text(new byte[] {'a', (byte) 0xfc, 'b'})).isEqualTo("aüb");
  }

  @Test
  void itEndsAfter64BytesWithoutAnEnd() {
    byte[] endless = new byte[200];
    Arrays.fill(endless, (byte) 'x');
    assertThat(Harmless.text(endless)).hasSize(64);
  }

  @Test
  void noBytesGiveAControlCharacter() {
    long seed = Seed.next();
    Random random = new Random(seed);
    for (int i = 0; i < 5000; i++) {
      byte[] bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      assertThat(Harmless.text(bytes).chars().noneMatch(Character::isISOControl))
          .as("seed %d", seed)
          .isTrue();
    }
  }
}
