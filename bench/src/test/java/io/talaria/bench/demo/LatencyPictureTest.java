// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Latencies;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LatencyPictureTest {
  @ParameterizedTest
  @CsvSource({"0, 0 %", "1, 90 %", "2, 99 %", "3, 99.9 %", "5, 99.999 %", "0.5, ''"})
  void ticksOfTheHorizontalAxisArePercentiles(double tick, String label) {
    assertThat(LatencyPicture.percentile(tick)).isEqualTo(label);
  }

  @ParameterizedTest
  @CsvSource({"2, 100 ns", "3, 1 µs", "7, 10 ms", "10, 10 s", "2.5, ''"})
  void ticksOfTheVerticalAxisAreTimes(double tick, String label) {
    assertThat(LatencyPicture.time(tick)).isEqualTo(label);
  }

  @Test
  void aPictureCanBePng(@TempDir Path folder) throws Exception {
    System.setProperty("java.awt.headless", "true");
    Histogram histogram = Latencies.histogram();
    histogram.recordValue(1_000);
    histogram.recordValue(2_000);
    LatencyPicture picture = new LatencyPicture("Title", "conditions");
    picture.addJdk(histogram);
    picture.addTalaria(histogram);
    Path file = folder.resolve("x.png");

    picture.write(file);

    assertThat(Files.readAllBytes(file)).startsWith(0x89, 'P', 'N', 'G');
  }
}
