// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.harness.Latencies;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SynchronizedHistogram;

/**
 * Keeps a number of asynchronous operations under way and takes the time of each. Used by one
 * thread; operations may end in others.
 */
final class Window {
  private static final int DIGITS = 3;

  private final int size;
  private final Semaphore free;
  private final Histogram histogram = new SynchronizedHistogram(1, Latencies.HIGHEST_NS, DIGITS);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /**
   * @param size how many may be under way at a time
   */
  Window(int size) {
    this.size = size;
    this.free = new Semaphore(size);
  }

  /** Starts an operation once there is room. */
  void submit(LongFunction<CompletableFuture<?>> operation, long number) throws Exception {
    take();
    long start = System.nanoTime();
    operation
        .apply(number)
        .whenComplete(
            (result, failed) -> {
              Latencies.record(histogram, System.nanoTime() - start);
              if (failed != null) {
                failure.compareAndSet(null, failed);
              }
              free.release();
            });
  }

  /** Waits until nothing is under way. */
  void drain() throws Exception {
    for (int i = 0; i < size; i++) {
      take();
    }
    free.release(size);
  }

  private void take() throws Exception {
    if (!free.tryAcquire(Ledgers.LIMIT_MS, TimeUnit.MILLISECONDS)) {
      throw Ledgers.noAnswer();
    }
    check();
  }

  private void check() throws Exception {
    Throwable failed = failure.get();
    if (failed instanceof Exception known) {
      throw known;
    }
    if (failed != null) {
      throw new IllegalStateException(failed);
    }
  }

  /** Returns the times of what has ended, in nanoseconds. */
  Histogram histogram() {
    return histogram;
  }
}
