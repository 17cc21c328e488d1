// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.util.HashMap;
import java.util.Map;

/** The program of both child JVMs: server or client of one scenario, as the parent orders. */
public final class BenchPeer {
  private BenchPeer() {}

  /**
   * Does what the parent orders on standard input.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ParentLink.serve(BenchPeer::run);
  }

  private static void run(ParentLink link) throws IOException, InterruptedException {
    Job job = link.receive(Job.class);
    link.report("result", job.server() ? server(link, job) : client(link, job));
  }

  private static Measured server(ParentLink link, Job job) throws IOException {
    Scenario scenario = job.scenario();
    AllocMeter meter = scenario.pattern() == Pattern.ALLOC ? new AllocMeter() : null;
    try (ServerSocketChannel listener = Sockets.listen()) {
      link.report("listening", new Listening(Sockets.port(listener)));
      if (scenario.pattern() == Pattern.ONEWAY) {
        receive(listener, scenario.connections());
      } else if (scenario.waiting() == WaitStrategy.BLOCKING) {
        BlockingEchoServer.serve(listener, scenario.sizeBytes(), meter);
      } else {
        echo(listener, scenario, meter);
      }
    }
    return withAllocation(
        new Measured(Map.of(), Map.of(), TransportProbe.look(), true),
        Measured.SERVER_ALLOCATED,
        meter);
  }

  private static void receive(ServerSocketChannel listener, int connections) throws IOException {
    OnewayReceiver receiver = new OnewayReceiver();
    if (connections == 1) {
      receiver.serveOne(listener);
    } else {
      receiver.serveMany(listener, connections);
    }
  }

  private static void echo(ServerSocketChannel listener, Scenario scenario, AllocMeter meter)
      throws IOException {
    try (EventLoop loop = new EventLoop(scenario.waiting())) {
      new SelectorEchoServer(listener, loop, scenario.sizeBytes(), scenario.connections(), meter)
          .serve();
    }
  }

  private static Measured client(ParentLink link, Job job)
      throws IOException, InterruptedException {
    Scenario scenario = job.scenario();
    return switch (scenario.pattern()) {
      case ONEWAY -> {
        try (OnewaySender sender =
            new OnewaySender(job.port(), scenario.sizeBytes(), scenario.connections())) {
          yield sender.run(job.timing());
        }
      }
      case IDLE -> IdleClient.run(link, job);
      case MANY -> ManyClient.run(link, job);
      case SCALE -> ScaleClient.run(link, job);
      case COLD -> {
        try (Trips trips = open(job, null)) {
          yield ColdClient.run(trips);
        }
      }
      case BLOCKING, SELECT_NOW, SELECT, WAKE, ALLOC -> roundTrips(link, job);
    };
  }

  private static Measured roundTrips(ParentLink link, Job job) throws IOException {
    AllocMeter meter = job.scenario().pattern() == Pattern.ALLOC ? new AllocMeter() : null;
    try (Trips trips = open(job, meter)) {
      boolean rested = Phases.warmUp(trips, job.timing(), job.scenario().connections());
      if (job.scenario().pattern() == Pattern.WAKE) {
        link.report("measuring", TransportProbe.look());
      }
      Measured measured = Phases.measure(trips, job.timing(), meter).rested(rested);
      return withAllocation(measured, Measured.CLIENT_ALLOCATED, meter);
    }
  }

  private static Trips open(Job job, AllocMeter meter) throws IOException {
    Scenario scenario = job.scenario();
    if (scenario.waiting() == WaitStrategy.BLOCKING) {
      return new BlockingTrips(job.port(), scenario.sizeBytes(), meter);
    }
    EventLoop loop = new EventLoop(scenario.waiting());
    if (scenario.flight() == Flight.ALL) {
      return new FlightTrips(job.port(), scenario.sizeBytes(), loop, scenario.connections());
    }
    TurnTrips trips = new TurnTrips(job.port(), scenario.sizeBytes(), loop, meter);
    trips.connect(scenario.connections());
    return trips;
  }

  private static Measured withAllocation(Measured measured, String name, AllocMeter meter) {
    if (meter == null || !meter.enough()) {
      return measured;
    }
    Map<String, Double> values = new HashMap<>(measured.values());
    values.put(name, meter.bytesPerOperation());
    return new Measured(values, measured.histograms(), measured.transports(), measured.rested());
  }
}
