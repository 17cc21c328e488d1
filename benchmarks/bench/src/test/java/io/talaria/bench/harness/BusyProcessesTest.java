// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class BusyProcessesTest {
  @Test
  void eachUsesTheProcessorUntilItIsClosed() throws Exception {
    List<Long> pids;
    try (BusyProcesses busy = BusyProcesses.start(2)) {
      pids = busy.pids();
      assertThat(pids).hasSize(2).allMatch(pid -> ProcessHandle.of(pid).isPresent());
      for (long pid : pids) {
        CpuReading before = CpuReading.of(pid);
        while (CpuReading.of(pid).sinceNs(before) < TimeUnit.MILLISECONDS.toNanos(100)) {
          Thread.onSpinWait(); // one that rests would never get there
        }
      }
      busy.check();
    }
    assertThat(pids)
        .noneMatch(pid -> ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
  }

  @Test
  void whatIsMeasuredBesideOneThatHasEndedFails() throws Exception {
    try (BusyProcesses busy = BusyProcesses.start(1)) {
      ProcessHandle process = ProcessHandle.of(busy.pids().getFirst()).orElseThrow();
      process.destroyForcibly();
      process.onExit().get(60, TimeUnit.SECONDS);

      assertThatThrownBy(busy::check)
          .isInstanceOf(ChildGoneException.class)
          .hasMessageContaining("busy process 1 ended");
    }
  }

  @Test
  void noneIsAGoodNumber() throws Exception {
    try (BusyProcesses none = BusyProcesses.start(0)) {
      assertThat(none.pids()).isEmpty();
      none.check();
    }
  }
}
