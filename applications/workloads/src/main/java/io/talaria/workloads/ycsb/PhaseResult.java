// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.harness.TransportProbe;
import java.util.Map;

/**
 * What a client JVM has found.
 *
 * @param operations how many operations succeeded
 * @param failed how many failed
 * @param failure why the first one failed; empty if none did
 * @param elapsedNs how long all of them took
 * @param histograms the latencies in nanoseconds by operation, encoded by {@link
 *     io.talaria.bench.harness.Latencies}
 * @param connections how many connections there were
 * @param transports their transports
 * @param rested whether compilers rested when a run began
 */
public record PhaseResult(
    long operations,
    long failed,
    String failure,
    long elapsedNs,
    Map<String, String> histograms,
    int connections,
    TransportProbe.Transports transports,
    boolean rested) {}
