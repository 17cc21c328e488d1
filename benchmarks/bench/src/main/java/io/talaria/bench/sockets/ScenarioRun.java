// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Latencies;
import org.HdrHistogram.Histogram;

/**
 * What one pair of JVMs found that ran one scenario.
 *
 * @param scenario the scenario
 * @param client what the client measured, and what was watched meanwhile
 * @param server what the server measured
 */
record ScenarioRun(Scenario scenario, Measured client, Measured server) {

  /** Returns a figure of either side, or NaN if there is none of that name. */
  double value(String name) {
    Double value = client.values().get(name);
    return value != null ? value : server.values().getOrDefault(name, Double.NaN);
  }

  /** Returns the client's histogram of that name, or null. */
  Histogram histogram(String name) {
    String text = client.histograms().get(name);
    return text == null ? null : Latencies.decode(text);
  }

  /** Returns the median of the client's histogram of that name, or NaN. */
  double medianNs(String name) {
    Histogram histogram = histogram(name);
    return histogram == null ? Double.NaN : histogram.getValueAtPercentile(50);
  }
}
