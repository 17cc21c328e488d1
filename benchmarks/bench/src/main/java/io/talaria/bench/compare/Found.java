// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.TransportProbe.Transports;
import io.talaria.bench.harness.WarmUp;
import org.HdrHistogram.Histogram;

/**
 * What a client found in one trial.
 *
 * @param operations how many operations
 * @param bytes their payload, if bytes a second are of interest; else 0
 * @param elapsedNs in which time
 * @param histogram how long each took, encoded; empty if that is not of interest
 * @param transports which transports the connections took
 * @param rested whether compilers rested when measuring began
 */
public record Found(
    long operations,
    long bytes,
    long elapsedNs,
    String histogram,
    Transports transports,
    boolean rested) {

  /**
   * Returns what was found of operations that were timed one by one, and looks at the transports.
   *
   * @param warmUp what went before
   * @param histogram how long each took
   * @param elapsedNs how long all took
   */
  public static Found timed(WarmUp warmUp, Histogram histogram, long elapsedNs) {
    return new Found(
        histogram.getTotalCount(),
        0,
        elapsedNs,
        Latencies.encode(histogram),
        TransportProbe.look(),
        warmUp.rested());
  }

  /**
   * Returns what was found of messages one way, and looks at the transports.
   *
   * @param warmUp what went before
   * @param messages how many
   * @param bytes their payload
   * @param elapsedNs how long all took
   */
  public static Found poured(WarmUp warmUp, long messages, long bytes, long elapsedNs) {
    return new Found(messages, bytes, elapsedNs, "", TransportProbe.look(), warmUp.rested());
  }

  /** Returns the histogram, or null. */
  Histogram times() {
    return histogram.isEmpty() ? null : Latencies.decode(histogram);
  }

  double perSecond() {
    return operations * 1e9 / elapsedNs;
  }

  double gigabytesPerSecond() {
    return bytes * 1.0 / elapsedNs;
  }
}
