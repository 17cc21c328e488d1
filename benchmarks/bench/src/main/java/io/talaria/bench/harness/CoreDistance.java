// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

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
  private static final int WINDOWS = 5;
  private static final long HOPS = 20_000;

  private CoreDistance() {}

  /**
   * Measures for some milliseconds.
   *
   * @return nanoseconds, the best of several windows; nothing unless this process may use exactly
   *     two cores, because with more it does not choose which ones it measures
   * @throws InterruptedException if interrupted
   */
  public static OptionalDouble measure() throws InterruptedException {
    if (Cores.allowed().size() != CORES) {
      return OptionalDouble.empty();
    }
    long hops = WINDOWS * HOPS;
    AtomicLong word = new AtomicLong();
    Thread other = new Thread(() -> take(word, 1, hops), "core-distance");
    other.setDaemon(true);
    other.start();
    double best = Double.MAX_VALUE;
    for (int i = 0; i < WINDOWS; i++) {
      long before = System.nanoTime();
      take(word, i * HOPS, (i + 1) * HOPS);
      best = Math.min(best, (double) (System.nanoTime() - before) / HOPS);
    }
    other.join();
    return OptionalDouble.of(best);
  }

  /** Waits for each second number and answers it with the next one. */
  private static void take(AtomicLong word, long first, long end) {
    for (long expected = first; expected < end; expected += 2) {
      while (word.getAcquire() != expected) {
        Thread.onSpinWait();
      }
      word.setRelease(expected + 1);
    }
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
