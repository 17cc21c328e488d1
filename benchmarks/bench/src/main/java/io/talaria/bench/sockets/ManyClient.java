// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Measures the round trip with one connection, then opens the others and measures it with all of
 * them, each echoing in turn. Between its steps the parent looks at the memory in use.
 */
final class ManyClient {
  private ManyClient() {}

  static Measured run(ParentLink link, Job job) throws IOException, InterruptedException {
    Scenario scenario = job.scenario();
    EventLoop loop = new EventLoop(scenario.waiting());
    try (TurnTrips trips = new TurnTrips(job.port(), scenario.sizeBytes(), loop, null)) {
      trips.connect(1);
      Phases.warmUp(trips, job.timing(), 1);
      Measured one = Phases.measure(trips, job.timing());
      pause(link, "one");
      trips.connect(scenario.connections());
      trips.visitAll();
      boolean rested = Phases.warmUp(trips, job.timing(), scenario.connections());
      pause(link, "all");
      Measured all = Phases.measure(trips, job.timing());
      Map<String, String> histograms = new HashMap<>(all.histograms());
      histograms.put(Measured.ROUND_TRIP_ONE, one.histograms().get(Measured.ROUND_TRIP));
      return new Measured(all.values(), histograms, all.transports(), rested);
    }
  }

  private static void pause(ParentLink link, String step) throws IOException, InterruptedException {
    link.report(step, TransportProbe.look());
    link.receive(String.class);
  }
}
