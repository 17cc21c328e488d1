// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import org.junit.jupiter.api.Test;

class WaitingTest {
  private static Settings with(String... namesAndValues) {
    Properties properties = new Properties();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      properties.setProperty("talaria.mpj." + namesAndValues[i], namesAndValues[i + 1]);
    }
    return Settings.of(properties);
  }

  @Test
  void ranksThatHaveACoreEachSpinAndTheOthersYield() {
    assertThat(with().waiting(2, 2)).isEqualTo(new Waiting(50_000, 0));
    assertThat(with().waiting(3, 2)).isEqualTo(new Waiting(0, 200_000));
    assertThat(with().waiting(16, 2)).isEqualTo(new Waiting(0, 800_000));
  }

  @Test
  void eachPropertyReplacesOneOfBoth() {
    assertThat(with("spin", "7").waiting(3, 2)).isEqualTo(new Waiting(7_000, 200_000));
    assertThat(with("yield", "7").waiting(2, 2)).isEqualTo(new Waiting(50_000, 7_000));
    assertThat(with("spin", "0", "yield", "0").waiting(3, 2)).isEqualTo(new Waiting(0, 0));
  }
}
