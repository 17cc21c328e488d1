// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.Latencies;
import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** What was measured on one kind of sockets. Filled by one thread, then only read. */
final class DemoRun {
  private final Map<DemoPhase, PhaseResult> phases = new EnumMap<>(DemoPhase.class);
  private final Map<DemoPhase, Long> cpuNs = new EnumMap<>(DemoPhase.class);

  void add(PhaseResult result, long cpuNsOfBoth) {
    phases.put(result.phase(), result);
    cpuNs.put(result.phase(), cpuNsOfBoth);
  }

  PhaseResult phase(DemoPhase phase) {
    return phases.get(phase);
  }

  /** Returns the round trips of a phase. */
  Histogram histogram(DemoPhase phase) {
    return Latencies.decode(phases.get(phase).histogram());
  }

  /** Returns the processor time of both JVMs for each round trip or message. */
  double cpuNsEach(DemoPhase phase) {
    return (double) cpuNs.get(phase) / phases.get(phase).operations();
  }
}
