// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.compare.WarmUpLength;
import io.talaria.cli.harness.HostPort;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * What a client JVM is told: one phase.
 *
 * @param servers where the store is
 * @param phase which phase
 * @param properties YCSB's
 * @param threads how many threads
 * @param warmUp how long to warm up before a run is measured
 * @param export the file for YCSB's exporter; empty for none
 */
public record YcsbJob(
    List<HostPort> servers,
    Phase phase,
    Map<String, String> properties,
    int threads,
    WarmUpLength warmUp,
    String export) {

  /** Returns the properties as YCSB wants them. */
  Properties toProperties() {
    Properties copy = new Properties();
    copy.putAll(properties);
    return copy;
  }

  /** Returns how many operations the phase has. */
  long operations() {
    return phase.operations(properties);
  }
}
