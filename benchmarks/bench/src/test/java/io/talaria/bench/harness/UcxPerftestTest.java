// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.talaria.bench.harness.UcxPerftest.Figures;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UcxPerftestTest {
  @Test
  void theRoundTripIsTwiceTheLatencyItPrints() throws HarnessException {
    Figures figures =
        UcxPerftest.parse(
            """
            iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
            500000,0.165,0.174,0.174,87.58,87.58,5739544,5739544
            """);

    assertThat(figures.roundTripNs()).isCloseTo(330, within(0.001));
    assertThat(figures.averageNs()).isCloseTo(174, within(0.001));
    assertThat(figures.perSecond()).isEqualTo(5_739_544);
  }

  @Test
  void bandwidthIsInMebibytes() throws HarnessException {
    Figures figures = UcxPerftest.parse("30000,0.012,0.014,0.014,1000.00,2000.00,16000,32000\n");

    assertThat(figures.gigabytesPerSecond()).isCloseTo(2.097152, within(1e-9));
  }

  @Test
  void figuresOnTheWayCountIfItIsStopped() throws HarnessException {
    Figures figures =
        UcxPerftest.parse(
            """
            iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
            [thread 0]363718,0.180,1.375,1.375,11.10,11.10,727239,727239
            """);

    assertThat(figures.iterations()).isEqualTo(363_718);
    assertThat(figures.roundTripNs()).isCloseTo(360, within(0.001));
  }

  @Test
  void severalThreadsPrintFourFigures() throws HarnessException {
    Figures figures =
        UcxPerftest.parse(
            """
            iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
            [thread 0]363718,0.180,1.375,1.375,11.10,11.10,727239,727239
            727436,0.750,22.20,1454478
            """);

    assertThat(figures.iterations()).isEqualTo(727_436);
    assertThat(figures.medianUs()).isEqualTo(0.75);
    assertThat(figures.mebibytesPerSecond()).isEqualTo(22.20);
    assertThat(figures.perSecond()).isEqualTo(1_454_478);
  }

  @Test
  void oneThatPrintsNothingInTimeIsToldWithTheTime(@TempDir Path folder) throws Exception {
    Path silent = Files.writeString(folder.resolve("silent"), "#!/bin/sh\nexec sleep 60\n");
    Files.setPosixFilePermissions(silent, PosixFilePermissions.fromString("rwx------"));
    UcxPerftest perftest =
        new UcxPerftest(new Pinning(Pinning.NONE, Pinning.NONE, "a test"), silent.toString());
    UcxPerftest.Test test = new UcxPerftest.Test("tag_lat", 16, 100, List.of(), "");

    assertThatThrownBy(() -> perftest.run(test, "127.0.0.1", 1, Duration.ofMillis(200)))
        .isInstanceOf(HarnessException.class)
        .hasMessage("ucx_perftest printed nothing within 0.2 s; the host may be too busy for it");
  }

  @Test
  @Timeout(60)
  void whoIsInterruptedLeavesNoClient(@TempDir Path folder) throws Exception {
    Path endless = Files.writeString(folder.resolve("endless"), "#!/bin/sh\nexec tail -f \"$0\"\n");
    Files.setPosixFilePermissions(endless, PosixFilePermissions.fromString("rwx------"));
    UcxPerftest perftest =
        new UcxPerftest(new Pinning(Pinning.NONE, Pinning.NONE, "a test"), endless.toString());
    UcxPerftest.Test test = new UcxPerftest.Test("tag_lat", 16, 100, List.of(), "");

    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> perftest.run(test, "127.0.0.1", 1, Duration.ofMinutes(1)))
        .isInstanceOf(InterruptedException.class);

    while (isRunning(endless)) {
      Thread.sleep(10);
    }
  }

  private static boolean isRunning(Path program) {
    try (Stream<ProcessHandle> children = ProcessHandle.current().children()) {
      return children
          .flatMap(child -> child.info().commandLine().stream())
          .anyMatch(words -> words.contains(program.toString()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"could not connect", "1,2,3", "1,2,3,4,5,6,7,eight", ""})
  void otherOutputIsToldAsItIs(String output) {
    assertThatThrownBy(() -> UcxPerftest.parse(output + "\n"))
        .isInstanceOf(HarnessException.class)
        .hasMessage("ucx_perftest printed no figures: " + output);
  }
}
