// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rank that yields does not sleep: the kernel counts the one apart from the other. */
@Timeout(120)
class YieldTest {
  private static final int MESSAGES = 500;
  private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);

  /** How often this thread has given the core away because it had nothing to do. */
  private static long sleeps() {
    try {
      return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
          .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** How often a rank sleeps while it waits for messages that come one by one, with pauses. */
  private static long sleeps(Variant variant) {
    AtomicLong sleeps = new AtomicLong();
    variant.run(
        2,
        w -> {
          int[] a = new int[1];
          long before = sleeps();
          for (int i = 0; i < MESSAGES; i++) {
            if (w.Rank() == 0) {
              w.Recv(a, 0, 1, MPI.INT, 1, 0);
              w.Send(a, 0, 1, MPI.INT, 1, 0);
            } else {
              long start = System.nanoTime();
              while (System.nanoTime() - start < PAUSE_NS) {
                Thread.onSpinWait();
              }
              w.Send(a, 0, 1, MPI.INT, 0, 0);
              w.Recv(a, 0, 1, MPI.INT, 0, 0);
            }
          }
          if (w.Rank() == 0) {
            sleeps.set(sleeps() - before);
          }
        });
    return sleeps.get();
  }

  @Test
  void aRankYieldsBeforeItSleeps() {
    assertThat(sleeps(Variant.threads().yieldNs(TimeUnit.SECONDS.toNanos(1))))
        .isLessThan(MESSAGES / 5);
    assertThat(sleeps(Variant.threads().yieldNs(0))).isGreaterThan(MESSAGES / 2);
  }
}
