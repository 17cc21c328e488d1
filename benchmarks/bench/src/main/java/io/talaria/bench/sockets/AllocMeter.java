// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * Counts the bytes that one thread allocates for each operation. Confined to that thread; allocates
 * nothing itself once it exists.
 */
final class AllocMeter {
  static final int BATCH = 100;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int BATCHES = 1 << 16;
  private static final int MIN_BATCHES = 20;

  private final long[] batchBytes = new long[BATCHES];
  private int batches = -1;
  private int operations;
  private long before;

  /** Counts one operation. */
  void tick() {
    if (++operations == BATCH) {
      operations = 0;
      endBatch();
    }
  }

  /** Forgets what was counted; the next batch is the first. */
  void restart() {
    batches = -1;
    operations = 0;
  }

  private void endBatch() {
    long now = THREADS.getCurrentThreadAllocatedBytes();
    if (batches >= 0) {
      batchBytes[batches % BATCHES] = now - before;
    }
    batches++;
    before = now;
  }

  /** Returns whether there were operations enough for a mean. */
  boolean enough() {
    return batches >= MIN_BATCHES;
  }

  /**
   * Returns the mean of the later half of all batches, when the code is long compiled.
   *
   * @return bytes an operation, or NaN if there were not {@link #enough} operations
   */
  double bytesPerOperation() {
    if (!enough()) {
      return Double.NaN;
    }
    int wanted = Math.min(batches, BATCHES) / 2;
    double sum = 0;
    for (int i = batches - wanted; i < batches; i++) {
      sum += batchBytes[i % BATCHES];
    }
    return sum / wanted / BATCH;
  }
}
