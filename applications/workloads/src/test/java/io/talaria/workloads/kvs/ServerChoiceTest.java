// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ServerChoiceTest {
  private static List<String> keys() {
    return IntStream.range(0, 10_000).mapToObj(i -> "user" + i).toList();
  }

  @Test
  void spreadsKeysEvenly() {
    ServerChoice choice = new ServerChoice(4);
    int[] counts = new int[4];
    keys().forEach(key -> counts[choice.of(key)]++);
    for (int count : counts) {
      assertThat(count).isBetween(2_200, 2_800);
    }
  }

  @Test
  void movesKeysToANewServerOnly() {
    ServerChoice before = new ServerChoice(4);
    ServerChoice after = new ServerChoice(5);
    long moved = keys().stream().filter(key -> before.of(key) != after.of(key)).count();
    assertThat(keys()).allMatch(key -> after.of(key) == before.of(key) || after.of(key) == 4);
    assertThat(moved).isBetween(1_600L, 2_400L);
  }

  /** A client of another release must find what an older one has stored. */
  @Test
  void isTheSameInEveryRelease() {
    ServerChoice choice = new ServerChoice(7);
    assertThat(List.of("", "a", "user1000", "Schlüssel").stream().map(choice::of))
        .containsExactly(0, 5, 1, 2);
  }
}
