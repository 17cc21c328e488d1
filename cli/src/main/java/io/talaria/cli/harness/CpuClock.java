// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** The processor time that a process has used, read from outside. */
public final class CpuClock {
  private CpuClock() {}

  /**
   * Returns the processor time used by the live threads of a process, to the nanosecond where the
   * kernel counts so finely, else to its tick of usually 10 ms.
   *
   * <p>Threads that have ended are not in the fine figure, so take differences over a time in which
   * none ends.
   *
   * @param pid the process
   * @return nanoseconds, or 0 if there is no such process
   */
  public static long usedNs(long pid) {
    long sum = 0;
    Path tasks = Path.of("/proc", Long.toString(pid), "task");
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        sum += scheduledNs(thread.resolve("schedstat"));
      }
      return sum;
    } catch (IOException | NumberFormatException e) {
      return ProcessHandle.of(pid)
          .flatMap(process -> process.info().totalCpuDuration())
          .map(Duration::toNanos)
          .orElse(0L);
    }
  }

  private static long scheduledNs(Path schedstat) throws IOException {
    String text = Files.readString(schedstat);
    return Long.parseLong(text.substring(0, text.indexOf(' ')));
  }
}
