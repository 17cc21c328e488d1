// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Latencies.Percentiles;
import io.talaria.bench.harness.Spread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** All that has been measured so far. Not for use by several threads. */
final class Results {
  /**
   * One pair of JVMs that ran one scenario.
   *
   * @param scenario the scenario
   * @param contender whose sockets
   * @param round the round, from 1
   * @param client what the client measured
   * @param server what the server measured
   */
  record Run(Scenario scenario, Contender contender, int round, Measured client, Measured server) {

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
      return histogram == null ? Double.NaN : Percentiles.of(histogram).p50();
    }
  }

  private final List<Run> runs = new ArrayList<>();
  private final Map<Scenario, List<Double>> ucx = new HashMap<>();

  void add(Run run) {
    runs.add(run);
  }

  List<Run> runs() {
    return List.copyOf(runs);
  }

  /** Adds what ucx_perftest measured in one round; NaN is no figure. */
  void addUcx(Scenario scenario, double figure) {
    if (!Double.isNaN(figure)) {
      ucx.computeIfAbsent(scenario, unknown -> new ArrayList<>()).add(figure);
    }
  }

  /** Returns the spread of what ucx_perftest measured, or null if it did not. */
  Spread ucx(Scenario scenario) {
    List<Double> figures = ucx.get(scenario);
    return figures == null ? null : Spread.of(figures);
  }

  private List<Run> of(Scenario scenario, Contender contender) {
    return runs.stream()
        .filter(run -> run.scenario().equals(scenario) && run.contender() == contender)
        .toList();
  }

  /** Returns the spread of a figure over the rounds, or null if it was not measured. */
  Spread spread(Scenario scenario, Contender contender, ToDoubleFunction<Run> figure) {
    List<Double> values =
        of(scenario, contender).stream()
            .map(figure::applyAsDouble)
            .filter(value -> !Double.isNaN(value))
            .toList();
    return values.isEmpty() ? null : Spread.of(values);
  }

  /** Returns the histograms of all rounds in one, or null if there are none. */
  Histogram merged(Scenario scenario, Contender contender, Function<Run, Histogram> which) {
    Histogram sum = null;
    for (Run run : of(scenario, contender)) {
      Histogram histogram = which.apply(run);
      if (histogram != null) {
        sum = sum == null ? Latencies.histogram() : sum;
        sum.add(histogram);
      }
    }
    return sum;
  }
}
