// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ProcCoresTest {
  private final ProcCores cores = new ProcCores();

  @Test
  void thisThreadRuns() {
    assumeTrue(Files.isReadable(Path.of("/proc/loadavg")));
    assertThat(cores.running()).isPositive();
  }

  @Test
  void aThreadsTimesGrowWhileItRuns() {
    long[] before = new long[2];
    assumeTrue(cores.runTimes(before), "this kernel does not count how long threads wait");
    long[] now = before.clone();
    while (now[0] - before[0] < 1_000_000) { // ended by the time limit of the test
      Thread.onSpinWait();
      assertThat(cores.runTimes(now)).isTrue();
    }
    assertThat(now[1]).isGreaterThanOrEqualTo(before[1]);
  }

  @Test
  void theHostHasAsManyCoresAsThisProcessMayUseOrMore() {
    assumeTrue(Files.isReadable(Path.of("/sys/devices/system/cpu/online")));
    assertThat(cores.online()).isGreaterThanOrEqualTo(cores.available());
  }

  @Test
  void listsOfCoresHaveSinglesAndRanges() {
    assertThat(counted("0\n")).isEqualTo(1);
    assertThat(counted("0-3\n")).isEqualTo(4);
    assertThat(counted("0-3,8,10-11\n")).isEqualTo(7);
    assertThat(counted("")).isEqualTo(Cores.UNKNOWN);
    assertThat(counted("\n")).isEqualTo(Cores.UNKNOWN);
    assertThat(counted("none")).isEqualTo(Cores.UNKNOWN);
    assertThat(counted("3-1")).isEqualTo(Cores.UNKNOWN);
    assertThat(counted("0-")).isEqualTo(Cores.UNKNOWN);
  }

  private static int counted(String list) {
    return ProcCores.counted(list.getBytes(US_ASCII), list.length());
  }

  @Test
  void numbersEndWhereTheirDigitsDo() {
    byte[] text = "12 340 x".getBytes(US_ASCII);
    assertThat(ProcCores.number(text, 0, text.length)).isEqualTo(12);
    assertThat(ProcCores.number(text, 3, text.length)).isEqualTo(340);
    assertThat(ProcCores.number(text, 7, text.length)).isEqualTo(-1);
    assertThat(ProcCores.number(text, 0, 1)).isEqualTo(1);
    assertThat(ProcCores.number(text, 9, text.length)).isEqualTo(-1);
  }
}
