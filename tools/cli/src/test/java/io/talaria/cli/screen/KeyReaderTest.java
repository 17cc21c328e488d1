// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.screen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Keys of characters. */
@Timeout(60)
class KeyReaderTest {
  private static List<Key> keys(String typed) throws IOException {
    Deque<Integer> waiting = new ArrayDeque<>();
    typed.chars().forEach(waiting::add);
    KeyReader reader =
        new KeyReader(
            ms -> waiting.isEmpty() ? KeyReader.Source.NOTHING : (int) waiting.removeFirst());
    List<Key> keys = new ArrayList<>();
    for (Key key = reader.read(0); key.name() != Key.Name.NONE; key = reader.read(0)) {
      keys.add(key);
    }
    return keys;
  }

  @Test
  void charactersAreThemselves() throws IOException {
    assertThat(keys("q+ ")).containsExactly(Key.of('q'), Key.of('+'), Key.of(' '));
    assertThat(keys("\r\n")).containsExactly(Key.of(Key.Name.ENTER), Key.of(Key.Name.ENTER));
  }

  @Test
  void arrowsComeInTwoWays() throws IOException {
    assertThat(keys("\u001b[A\u001bOB\u001b[C\u001b[1;5D"))
        .extracting(Key::name)
        .containsExactly(Key.Name.UP, Key.Name.DOWN, Key.Name.RIGHT, Key.Name.LEFT);
    assertThat(keys("\u001b[5~\u001b[6~\u001b[1~\u001b[F"))
        .extracting(Key::name)
        .containsExactly(Key.Name.PAGE_UP, Key.Name.PAGE_DOWN, Key.Name.HOME, Key.Name.END);
  }

  @Test
  void anEscapeAloneIsAKey() throws IOException {
    assertThat(keys("\u001b")).containsExactly(Key.of(Key.Name.ESCAPE));
  }

  @Test
  void whatIsUnknownOrEndlessIsSkipped() throws IOException {
    assertThat(keys("\u001b[99~x")).containsExactly(Key.of(Key.Name.OTHER), Key.of('x'));
    assertThat(keys("\u001b[" + "1".repeat(100)).get(0)).isEqualTo(Key.of(Key.Name.OTHER));
  }

  @Test
  void anEndIsAWishToLeave() throws IOException {
    assertThat(new KeyReader(ms -> KeyReader.Source.ENDED).read(0).leaves()).isTrue();
    assertThat(Key.of('q').leaves()).isTrue();
    assertThat(Key.of('x').leaves()).isFalse();
  }

  @Test
  void anythingTypedGivesKeysAndEnds() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      StringBuilder typed = new StringBuilder();
      for (int c = random.nextInt(20); c > 0; c--) {
        typed.append("\u001b[O;~A15xq".charAt(random.nextInt(10)));
      }
      assertThat(keys(typed.toString()).size())
          .as("seed %d", seed)
          .isLessThanOrEqualTo(typed.length());
    }
  }
}
