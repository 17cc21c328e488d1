// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.testsupport;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/**
 * What programs of {@code rdma-test --bench} share: they print a line {@code measure NAME VALUE}
 * for each figure, and measure when the compilers are at rest.
 */
public final class GuestFigures {
  private static final long IDLE_NS = 50_000_000;
  private static final int CHECK_MS = 500;
  private static final int MAX_CHECKS = 240;
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private GuestFigures() {}

  /** Prints a figure for {@code bench.sh}. */
  public static void print(String name, double value) {
    System.out.printf(Locale.ROOT, "measure %s %.3f%n", name, value);
  }

  /**
   * Waits until the compilers have finished what the warm-up has given them: with one processor
   * they would take it from what is measured.
   *
   * @throws IllegalStateException if the process is busy for two minutes
   */
  public static void awaitCompilers() throws InterruptedException {
    for (int i = 0; i < MAX_CHECKS; i++) {
      long before = PROCESS.getProcessCpuTime();
      Thread.sleep(CHECK_MS);
      if (PROCESS.getProcessCpuTime() - before < IDLE_NS) {
        return;
      }
    }
    throw new IllegalStateException("the compilers do not come to an end");
  }

  /** The median of nanoseconds, which are sorted, in microseconds. */
  public static double medianUs(long[] ns) {
    Arrays.sort(ns);
    return ns[ns.length / 2] / 1e3;
  }
}
