// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitsTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0.0312, 0.031",
    "0.5, 0.50",
    "9.994, 9.99",
    "9.996, 10.0",
    "99.96, 100",
    "'12345', '12,345'"
  })
  void figuresHaveThreeDigits(double value, String text) {
    assertThat(Units.figure(value)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "42, 42.0 ns",
    "330, 0.33 µs",
    "9790, 9.79 µs",
    "999400, 999 µs",
    "2100000, 2.10 ms",
    "1500000000, 1.50 s"
  })
  void timesHaveAUnitThatFits(double ns, String text) {
    assertThat(Units.time(ns)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"640, 640 /s", "15704, 15.7 k/s", "17100000, 17.1 M/s"})
  void ratesHaveAUnitThatFits(double perSecond, String text) {
    assertThat(Units.rate(perSecond)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "16, 16 B",
    "1024, 1 KiB",
    "65536, 64 KiB",
    "1536, 1.50 KiB",
    "4194304, 4 MiB",
    "236309074, 225 MiB"
  })
  void bytesHaveBinaryUnits(double bytes, String text) {
    assertThat(Units.bytes(bytes)).isEqualTo(text);
  }
}
