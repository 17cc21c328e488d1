// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Latencies.Percentiles;
import org.HdrHistogram.Histogram;

/**
 * The times of one iteration, in nanoseconds, as they are written to files.
 *
 * @param id the name for machines of what was timed
 * @param label its name to be displayed
 * @param implementation the implementation that was measured
 * @param iteration which iteration, from 1
 * @param percentiles the usual figures
 * @param hdr all of it, as {@link Latencies#encode} writes it
 */
public record Distribution(
    String id,
    String label,
    Implementation implementation,
    int iteration,
    Percentiles percentiles,
    String hdr) {

  static Distribution of(
      String id, String label, Implementation implementation, int iteration, Histogram histogram) {
    return new Distribution(
        id,
        label,
        implementation,
        iteration,
        Percentiles.of(histogram),
        Latencies.encode(histogram));
  }

  Histogram histogram() {
    return Latencies.decode(hdr);
  }
}
