// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The processor time that some processes have used, read from outside. Two readings give the time
 * between them, to the nanosecond while the same threads live, else to the kernel's tick.
 *
 * <p>The kernel counts finely for each thread that lives, and takes the figure away with the
 * thread; for a process it counts in ticks of usually 10 ms, and keeps what its ended threads have
 * used. Neither alone will do: a difference of sums over threads turns negative when one of them
 * ends.
 */
public final class CpuReading {
  /** What ticks may be away from the truth: two processes, two figures each, at both ends. */
  private static final long TICKS_NS = 80_000_000;

  private final Map<Long, Long> threadNs;
  private final long processNs;

  /**
   * @param threadNs the time of each live thread by its id; none where the kernel does not say
   * @param processNs the time of the processes in all
   */
  CpuReading(Map<Long, Long> threadNs, long processNs) {
    this.threadNs = Map.copyOf(threadNs);
    this.processNs = processNs;
  }

  /**
   * Reads what some processes have used so far. A process that does not exist has used nothing.
   *
   * @param pids the processes
   */
  public static CpuReading of(long... pids) {
    Map<Long, Long> threads = new HashMap<>();
    long total = 0;
    for (long pid : pids) {
      readThreads(pid, thread -> true, threads);
      total +=
          ProcessHandle.of(pid)
              .flatMap(process -> process.info().totalCpuDuration())
              .map(Duration::toNanos)
              .orElse(0L);
    }
    return new CpuReading(threads, total);
  }

  /**
   * Reads what some threads of a process have used so far, by their ids.
   *
   * @param which takes a thread's folder of the kernel's
   */
  static void readThreads(long pid, Predicate<Path> which, Map<Long, Long> into) {
    Path tasks = Path.of("/proc", Long.toString(pid), "task");
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        if (which.test(thread)) {
          readThread(thread, into);
        }
      }
    } catch (IOException e) {
      // The process has ended, or there is no such file system here.
    }
  }

  private static void readThread(Path thread, Map<Long, Long> into) {
    try {
      String times = Files.readString(thread.resolve("schedstat"));
      into.put(
          Long.valueOf(thread.getFileName().toString()),
          Long.valueOf(times.substring(0, times.indexOf(' '))));
    } catch (IOException | NumberFormatException | StringIndexOutOfBoundsException e) {
      // This thread has ended, or the kernel does not count so finely.
    }
  }

  /**
   * Returns the processor time used since another reading of the same processes; never less than
   * nothing.
   *
   * @param earlier the other reading
   */
  public long sinceNs(CpuReading earlier) {
    long fineNs = grownNs(earlier.threadNs, threadNs);
    long coarseNs = processNs - earlier.processNs;
    // Far more in all: threads have ended that only the processes' figure knows of.
    return coarseNs - fineNs > TICKS_NS || threadNs.isEmpty() ? Math.max(coarseNs, 0) : fineNs;
  }

  /** Returns what threads have used between two readings. */
  static long grownNs(Map<Long, Long> before, Map<Long, Long> after) {
    long total = 0;
    for (Map.Entry<Long, Long> thread : after.entrySet()) {
      total += Math.max(0, thread.getValue() - before.getOrDefault(thread.getKey(), 0L));
    }
    return total;
  }
}
