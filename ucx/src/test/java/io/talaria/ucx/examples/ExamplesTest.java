// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.ucx.Ucx;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ExamplesTest {
  @BeforeAll
  static void needsUcx() {
    assumeTrue(Ucx.obstacle().isEmpty(), () -> Ucx.obstacle().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "messaging | asked «how are you?», was told «12 letters of thanks»",
        "streaming | 6553600 bytes in chunks, their sum is 6553600",
        "active-messages | the last of 100000 squares is 9999800001",
        "remote-memory | read back «written from afar» from",
        "atomics | counted to 2997, then 3001; locked: true, again: false",
        "wake-up | descriptor there",
      })
  void examplesWork(String name, String found) throws Exception {
    assertThat(Examples.all().get(name).run()).startsWith(found);
  }
}
