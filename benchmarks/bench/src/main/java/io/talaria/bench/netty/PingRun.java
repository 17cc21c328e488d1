// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.netty;

import io.talaria.bench.harness.Latencies;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;

/**
 * Round trips on some connections for some time. All connections belong to one event loop, which
 * alone calls {@link #start}, {@link #echoed} and {@link #fail}.
 */
final class PingRun {
  private final Histogram histogram;
  private final long lengthNs;
  private final CompletableFuture<Long> done = new CompletableFuture<>();
  private long start;
  private int inFlight;

  /**
   * Prepares a run.
   *
   * @param histogram where round trips are recorded
   * @param lengthNs how long new messages are sent
   */
  PingRun(Histogram histogram, long lengthNs) {
    this.histogram = histogram;
    this.lengthNs = lengthNs;
  }

  /** Completes with the nanoseconds it took until the last echo was back. */
  CompletableFuture<Long> done() {
    return done;
  }

  /** Returns where round trips are recorded; complete once the run is done. */
  Histogram histogram() {
    return histogram;
  }

  void start(List<PingHandler> handlers) {
    start = System.nanoTime();
    inFlight = handlers.stream().mapToInt(PingHandler::inFlight).sum();
    handlers.forEach(handler -> handler.begin(this));
  }

  /** Records an echo, and says whether the next message is to be sent. */
  boolean echoed(long now, long tookNs) {
    Latencies.record(histogram, tookNs);
    if (now - start < lengthNs) {
      return true;
    }
    if (--inFlight == 0) {
      done.complete(now - start);
    }
    return false;
  }

  void fail(Throwable cause) {
    done.completeExceptionally(cause);
  }
}
