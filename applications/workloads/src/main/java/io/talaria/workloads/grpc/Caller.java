// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.grpc;

import io.talaria.bench.harness.Latencies;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;

/**
 * What a client does on one connection: calls, each timed. A run is begun by one thread when the
 * one before is done.
 */
abstract class Caller {
  private final int sizeBytes;
  private final byte[] message;

  /** Confined during a run to the thread that makes the calls or receives the callbacks. */
  private Histogram histogram = Latencies.histogram();

  Caller(int sizeBytes) {
    this.sizeBytes = sizeBytes;
    this.message = new byte[sizeBytes];
  }

  /**
   * Makes calls for a while.
   *
   * @param endNs until when, as {@link System#nanoTime}
   * @return completed when the last one is answered, with the time of that
   */
  abstract CompletableFuture<Long> run(long endNs);

  /** Returns the message, the same each time. */
  final byte[] message() {
    return message;
  }

  /** Records an answer, which must be as long as the message; returns the time. */
  final long answered(long sentNs, byte[] answer) {
    if (answer == null || answer.length != sizeBytes) {
      throw new IllegalStateException(
          (answer == null ? "no answer" : "an answer of " + answer.length + " bytes")
              + " to a message of "
              + sizeBytes);
    }
    long now = System.nanoTime();
    Latencies.record(histogram, now - sentNs);
    return now;
  }

  /** Returns what was recorded since the last time; between runs only. */
  final Histogram takeHistogram() {
    Histogram taken = histogram;
    histogram = Latencies.histogram();
    return taken;
  }
}
