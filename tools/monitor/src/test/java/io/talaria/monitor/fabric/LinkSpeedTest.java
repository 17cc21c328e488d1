// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.monitor.LinkRate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rates by the bits of a PortInfo. */
class LinkSpeedTest {
  @ParameterizedTest
  @CsvSource({
    "1, 1, 0, 2500000000, 2.5 Gb/s 1X SDR",
    "2, 4, 0, 40000000000, 40 Gb/s 4X QDR",
    "2, 4, 2, 100000000000, 100 Gb/s 4X EDR",
    "16, 4, 4, 100000000000, 100 Gb/s 2X HDR",
    "8, 2, 0, 60000000000, 60 Gb/s 12X DDR",
    "4, 4, 1, 112000000000, 112 Gb/s 8X FDR",
    "2, 4, 8, 400000000000, 400 Gb/s 4X NDR",
  })
  void areThoseOfTheKernel(int width, int speed, int extended, long bits, String text) {
    LinkRate rate = LinkSpeed.of(width, speed, extended);
    assertThat(rate.bitsPerSecond()).isEqualTo(bits);
    assertThat(rate.text()).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0, 1, 0", "3, 1, 0", "2, 0, 0", "2, 3, 0", "-1, -1, -1"})
  void ofNonsenseAreUnknown(int width, int speed, int extended) {
    assertThat(LinkSpeed.of(width, speed, extended)).isEqualTo(LinkRate.UNKNOWN);
  }
}
