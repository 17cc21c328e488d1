// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.Latencies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Round trips on one connection after the other, in one event loop, one echo at a time. */
final class TurnTrips implements Trips, EchoClient.Listener {
  private final int port;
  private final int sizeBytes;
  private final EventLoop loop;
  private final AllocMeter meter;
  private final List<EchoClient> clients = new ArrayList<>();
  private int next;
  private int turning = Integer.MAX_VALUE;
  private boolean waiting;

  TurnTrips(int port, int sizeBytes, EventLoop loop, AllocMeter meter) {
    this.port = port;
    this.sizeBytes = sizeBytes;
    this.loop = loop;
    this.meter = meter;
  }

  /** Opens connections until there are so many. */
  void connect(int connections) throws IOException {
    while (clients.size() < connections) {
      clients.add(new EchoClient(port, sizeBytes, loop, this));
    }
  }

  /** From now on only the first so many connections take turns; the others stay open and idle. */
  void useOnly(int connections) {
    turning = connections;
    next = 0;
  }

  /** Makes one round trip on each connection. */
  void visitAll() throws IOException {
    for (int i = 0; i < clients.size(); i++) {
      trip(System.nanoTime());
    }
  }

  @Override
  public long run(Histogram histogram, long lengthNs) throws IOException {
    long count = 0;
    long end = System.nanoTime() + lengthNs;
    long stop;
    do {
      long start = System.nanoTime();
      trip(start);
      stop = System.nanoTime();
      Latencies.record(histogram, stop - start);
      count++;
      if (meter != null) {
        meter.tick();
      }
    } while (stop - end < 0);
    return count;
  }

  private void trip(long start) throws IOException {
    int at = next;
    next = at + 1 >= Math.min(turning, clients.size()) ? 0 : at + 1;
    waiting = true;
    clients.get(at).send(start);
    while (waiting) {
      loop.turn();
    }
  }

  @Override
  public void echoed(EchoClient client) {
    waiting = false;
  }

  /** Closes all connections but the first ones; the event loop lives on. */
  void disconnectAllBut(int first) throws IOException {
    List<EchoClient> closing = clients.subList(Math.min(first, clients.size()), clients.size());
    for (EchoClient client : closing) {
      client.close();
    }
    closing.clear();
  }

  @Override
  public void close() throws IOException {
    disconnectAllBut(0);
    loop.close();
  }
}
