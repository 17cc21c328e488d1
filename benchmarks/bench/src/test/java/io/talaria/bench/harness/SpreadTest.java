// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
  @Test
  void theMedianOfAnOddNumberIsTheMiddleOne() {
    assertThat(Spread.of(5, 1, 9)).isEqualTo(new Spread(5, 1, 9, 3));
  }

  @Test
  void theMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo() {
    assertThat(Spread.of(4, 1, 9, 2)).isEqualTo(new Spread(3, 1, 9, 4));
  }

  @Test
  void nothingHasNoMedian() {
    assertThatThrownBy(() -> Spread.of(List.of())).isInstanceOf(IllegalArgumentException.class);
  }
}
