// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The property that gives JVMs more time to start. */
class PatienceTest {
  @Test
  void withoutThePropertyLimitsAreAsUsual() {
    assertThat(System.getProperty(Patience.PROPERTY)).isNull();
    assertThat(Patience.times(Duration.ofSeconds(60))).isEqualTo(Duration.ofSeconds(60));
    assertThat(Patience.parse("100")).isEqualTo(100);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "101", "", "two", "99999999999"})
  void whatIsNoFactorIsNamed(String text) {
    assertThatThrownBy(() -> Patience.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the property talaria.bench.patience is %s, but must be from 1 to 100", text);
  }
}
