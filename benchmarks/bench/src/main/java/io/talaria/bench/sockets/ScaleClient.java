// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.harness.WarmUp;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures the round trip of a connection alone, opens thousands more and uses each, measures the
 * same connection again while the others are idle, closes these, and measures once more what it
 * takes alone: the machine may have changed meanwhile. Between its steps the parent looks at memory
 * and descriptors.
 */
final class ScaleClient {
  private static final long SET_UP_LIMIT_NS = TimeUnit.SECONDS.toNanos(120);

  private ScaleClient() {}

  static Measured run(ParentLink link, Job job) throws IOException, InterruptedException {
    Scenario scenario = job.scenario();
    int connections = scenario.connections();
    EventLoop loop = new EventLoop(scenario.waiting());
    try (TurnTrips trips = new TurnTrips(job.port(), scenario.sizeBytes(), loop, null)) {
      trips.connect(1);
      Phases.warmUp(trips, job.timing(), 1);
      Measured one = Phases.measure(trips, job.timing());
      pause(link, "one");

      Map<String, Double> values = new HashMap<>();
      long start = System.nanoTime();
      trips.connect(connections);
      values.put(Measured.CONNECT_NS, since(start));
      do {
        trips.visitAll(); // each echoes; on Talaria until each has left TCP
      } while (!WarmUp.settled(connections) && since(start) < SET_UP_LIMIT_NS);
      values.put(Measured.SET_UP_NS, since(start));
      long all = System.nanoTime();
      trips.visitAll();
      values.put(Measured.VISIT_NS, since(all));
      pause(link, "all");

      trips.useOnly(1);
      boolean rested = Phases.warmUp(trips, job.timing(), connections);
      Measured busy = Phases.measure(trips, job.timing());
      long end = System.nanoTime();
      trips.disconnectAllBut(1);
      values.put(Measured.TEAR_DOWN_NS, since(end));
      Phases.warmUp(trips, job.timing(), 1);
      Measured again = Phases.measure(trips, job.timing());

      values.putAll(busy.values());
      Map<String, String> histograms = new HashMap<>(busy.histograms());
      histograms.put(Measured.ROUND_TRIP_ONE, one.histograms().get(Measured.ROUND_TRIP));
      histograms.put(Measured.ROUND_TRIP_ONE_AGAIN, again.histograms().get(Measured.ROUND_TRIP));
      return new Measured(values, histograms, busy.transports(), rested);
    }
  }

  private static double since(long start) {
    return System.nanoTime() - start;
  }

  private static void pause(ParentLink link, String step) throws IOException, InterruptedException {
    link.report(step, TransportProbe.look());
    link.receive(String.class);
  }
}
