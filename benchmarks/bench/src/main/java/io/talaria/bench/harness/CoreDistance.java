// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long a word takes from one core to the other. Virtual processors move: now they share a core
 * of the host or its cache, now they do not, and latencies between them change fourfold. So a
 * figure needs the distance at which it was measured.
 */
public final class CoreDistance {
  private static final int CORES = 2;
  private static final int WINDOWS = 100;
  private static final long HOPS = 1_000;
  private static final long LIMIT_NS = Duration.ofMillis(100).toNanos();

  /** How often a thread that waits looks at the clock: a few microseconds. */
  private static final int SPINS_PER_LOOK = 256;

  /** The number that was reached; even ones are the first thread's to raise, odd the other's. */
  private final AtomicLong word = new AtomicLong();

  private volatile boolean over;

  private CoreDistance() {}

  /**
   * Measures for 100 ms at most.
   *
   * @return nanoseconds, the best of many windows; nothing unless this process may use exactly two
   *     cores, because with more it does not choose which ones it measures; nothing if the two
   *     threads never ran at the same time for long enough, as happens beside busy processes
   * @throws InterruptedException if interrupted
   */
  public static OptionalDouble measure() throws InterruptedException {
    return Cores.allowed().size() == CORES
        ? new CoreDistance().measure(System.nanoTime() + LIMIT_NS)
        : OptionalDouble.empty();
  }

  private OptionalDouble measure(long deadline) throws InterruptedException {
    Thread other = new Thread(() -> raise(1, Long.MAX_VALUE, deadline), "core-distance");
    other.setDaemon(true);
    other.start();
    double best = Double.MAX_VALUE;
    long before = System.nanoTime();
    for (long first = 0;
        first < WINDOWS * HOPS && raise(first, first + HOPS, deadline);
        first += HOPS) {
      long now = System.nanoTime();
      best = Math.min(best, (double) (now - before) / HOPS);
      before = now;
    }
    over = true;
    other.join();
    return best < Double.MAX_VALUE ? OptionalDouble.of(best) : OptionalDouble.empty();
  }

  /**
   * Waits for each second number and raises it by one.
   *
   * @return whether it came to the end: not if the measurement is over, or the deadline has passed
   */
  private boolean raise(long first, long end, long deadline) {
    for (long expected = first; expected < end; expected += 2) {
      for (int spins = 1; word.getAcquire() != expected; spins++) {
        if (over || (spins % SPINS_PER_LOOK == 0 && System.nanoTime() - deadline >= 0)) {
          return false;
        }
        Thread.onSpinWait();
      }
      word.setRelease(expected + 1);
    }
    return true;
  }

  /**
   * Describes several measurements in one line; empty if there is none.
   *
   * @param ns nanoseconds, in the order in which they were measured
   */
  public static String describe(List<Double> ns) {
    if (ns.isEmpty()) {
      return "";
    }
    StringBuilder line = new StringBuilder("ns from core to core before each iteration:");
    ns.forEach(one -> line.append(String.format(Locale.ROOT, " %.0f", one)));
    return line.toString();
  }
}
