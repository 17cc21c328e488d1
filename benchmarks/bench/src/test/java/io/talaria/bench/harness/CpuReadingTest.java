// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processor time read from outside, also while threads come and go. */
@Timeout(120)
class CpuReadingTest {
  private static final long MS = 1_000_000;
  private static final long PID = ProcessHandle.current().pid();

  /** Uses so much processor time on a thread of its own, which then waits for leave to end. */
  private static Thread burn(long ns, CountDownLatch done, CountDownLatch leave) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              while (threads.getCurrentThreadCpuTime() < ns) {
                Thread.onSpinWait();
              }
              done.countDown();
              try {
                leave.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  @Test
  void isFineWhileTheSameThreadsLive() {
    CpuReading before = new CpuReading(Map.of(1L, 100L, 2L, 50L), 0);
    CpuReading after = new CpuReading(Map.of(1L, 130L, 2L, 50L, 3L, 7L), 10 * MS);
    assertThat(after.sinceNs(before)).isEqualTo(37);
  }

  @Test
  void aThreadThatEndsTakesNothingAway() {
    CpuReading before = new CpuReading(Map.of(1L, 100 * MS, 2L, 5000 * MS), 5100 * MS);
    CpuReading after = new CpuReading(Map.of(1L, 130 * MS), 5130 * MS);
    assertThat(after.sinceNs(before)).isEqualTo(30 * MS);
  }

  @Test
  void whatAnEndedThreadHasUsedIsNotForgotten() {
    CpuReading before = new CpuReading(Map.of(1L, 100 * MS, 2L, 5000 * MS), 5100 * MS);
    CpuReading after = new CpuReading(Map.of(1L, 130 * MS), 5730 * MS);
    assertThat(after.sinceNs(before)).isEqualTo(630 * MS);
  }

  @Test
  void ticksAreUsedWhereThreadsAreNotCounted() {
    CpuReading before = new CpuReading(Map.of(), 100 * MS);
    assertThat(new CpuReading(Map.of(), 120 * MS).sinceNs(before)).isEqualTo(20 * MS);
    assertThat(new CpuReading(Map.of(), 0).sinceNs(before)).as("the process is gone").isZero();
  }

  @Test
  void aRealThreadThatEndsBetweenReadingsIsCounted() throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Thread first = burn(200 * MS, done, leave);
    done.await();

    CpuReading before = CpuReading.of(PID);
    leave.countDown();
    first.join();
    CpuReading idle = CpuReading.of(PID);
    CountDownLatch again = new CountDownLatch(1);
    burn(500 * MS, again, leave).join();
    again.await();
    CpuReading after = CpuReading.of(PID);

    assertThat(idle.sinceNs(before)).isNotNegative();
    assertThat(after.sinceNs(before)).isGreaterThan(400 * MS);
    assertThat(CpuReading.of(Integer.MAX_VALUE).sinceNs(before)).isZero();
  }
}
