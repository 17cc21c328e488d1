// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import io.talaria.bench.harness.TransportProbe;
import java.util.List;

/**
 * What a client has found.
 *
 * @param measures writes and reads of each size
 * @param transports the transports of its connections
 * @param rested whether compilers rested when measuring began
 */
record LedgerResult(List<Measure> measures, TransportProbe.Transports transports, boolean rested) {
  /**
   * One operation at one size.
   *
   * @param operation {@code write} or {@code read}
   * @param sizeBytes the size of the entries
   * @param entries how many
   * @param elapsedNs how long all of them took
   * @param histogram how long each took, encoded by {@link io.talaria.bench.harness.Latencies}
   */
  record Measure(String operation, int sizeBytes, int entries, long elapsedNs, String histogram) {}
}
