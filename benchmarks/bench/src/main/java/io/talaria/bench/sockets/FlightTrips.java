// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Latencies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Round trips on all connections at once, in one event loop: one echo in flight on each. */
final class FlightTrips implements Trips, EchoClient.Listener {
  private final EventLoop loop;
  private final List<EchoClient> clients = new ArrayList<>();
  private Histogram histogram = Latencies.histogram();
  private long completed;
  private int inFlight;
  private boolean ending;

  FlightTrips(int port, int sizeBytes, EventLoop loop, int connections) throws IOException {
    this.loop = loop;
    for (int i = 0; i < connections; i++) {
      clients.add(new EchoClient(port, sizeBytes, loop, this));
    }
  }

  @Override
  public long run(Histogram into, long lengthNs) throws IOException {
    histogram = into;
    long before = completed;
    long end = System.nanoTime() + lengthNs;
    if (inFlight == 0) {
      for (EchoClient client : clients) {
        client.send(System.nanoTime());
        inFlight++;
      }
    }
    while (System.nanoTime() - end < 0 || completed == before) {
      loop.turn();
    }
    return completed - before;
  }

  @Override
  public void echoed(EchoClient client) throws IOException {
    long now = System.nanoTime();
    Latencies.record(histogram, now - client.sentAt());
    completed++;
    if (ending) {
      inFlight--;
    } else {
      client.send(now);
    }
  }

  @Override
  public void close() throws IOException {
    ending = true;
    while (inFlight > 0) {
      loop.turn();
    }
    for (EchoClient client : clients) {
      client.close();
    }
    loop.close();
  }
}
