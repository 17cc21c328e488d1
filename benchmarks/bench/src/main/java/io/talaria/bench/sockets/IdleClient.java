// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.ParentLink;
import io.talaria.bench.harness.TransportProbe;
import java.io.IOException;
import java.util.Map;

/**
 * Opens connections, uses each for a while, then waits in {@code select()} until the parent, which
 * watches the processor time meanwhile, has seen enough.
 */
final class IdleClient {
  private IdleClient() {}

  static Measured run(ParentLink link, Job job) throws IOException {
    int connections = job.scenario().connections();
    EventLoop loop = new EventLoop(WaitStrategy.SELECT);
    try (TurnTrips trips = new TurnTrips(job.port(), job.scenario().sizeBytes(), loop, null)) {
      trips.connect(connections);
      Phases.warmUp(trips, job.timing(), connections);
      trips.visitAll();
      Stop stop = new Stop(link, loop);
      Thread waiter = new Thread(stop, "idle-stop");
      waiter.setDaemon(true);
      waiter.start();
      link.report("idle", TransportProbe.look());
      while (!stop.ordered) {
        loop.turn();
      }
      Measured alive = Phases.measure(trips, shortly(job.timing()));
      return new Measured(Map.of(), Map.of(), alive.transports(), true);
    }
  }

  /** Echoes after the rest show that the connections still live. */
  private static Timing shortly(Timing timing) {
    return new Timing(0, timing.seconds() / 10);
  }

  private static final class Stop implements Runnable {
    private final ParentLink link;
    private final EventLoop loop;
    volatile boolean ordered;

    Stop(ParentLink link, EventLoop loop) {
      this.link = link;
      this.loop = loop;
    }

    @Override
    public void run() {
      try {
        link.receive(String.class);
      } catch (IOException | InterruptedException e) {
        System.err.println("no order to stop: " + e);
      }
      ordered = true;
      loop.wakeup();
    }
  }
}
