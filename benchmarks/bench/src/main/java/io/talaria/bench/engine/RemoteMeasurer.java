// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.Patience;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A measuring JVM that a benchmark server starts. */
final class RemoteMeasurer implements Measurer {
  /** How much later than the benchmark server this side gives up. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final Duration START_LIMIT = Duration.ofSeconds(70);

  private final ControlLine line;
  private final ControlLine.Line welcome;
  private volatile Duration limit;

  private RemoteMeasurer(ControlLine line, ControlLine.Line welcome) {
    this.line = line;
    this.welcome = welcome;
  }

  /**
   * Connects to a benchmark server.
   *
   * @param run what all connections of this command have in common, and no others
   * @throws HarnessException if there is none, or it is another version, or refuses
   */
  static RemoteMeasurer connect(InetSocketAddress benchmarkServer, String token, String run)
      throws HarnessException {
    ControlLine line = ControlLine.connect(benchmarkServer);
    try {
      line.send(ControlLine.hello(token, run));
      ControlLine.Line welcome = line.await("welcome", ControlLine.LIMIT);
      if (welcome.version() != ControlLine.VERSION) {
        throw new HarnessException(mismatch(ControlLine.VERSION, welcome.version()));
      }
      return new RemoteMeasurer(line, welcome);
    } catch (HarnessException e) {
      line.close();
      throw e;
    }
  }

  static String mismatch(int client, int server) {
    return "the client speaks version "
        + client
        + " of the protocol, the server version "
        + server
        + ": use the same release of Talaria on both sides";
  }

  /** Returns the address of the benchmark server, as this side sees it. */
  String host() {
    return line.peerAddress();
  }

  /** Returns Talaria's version on the other side. */
  String talaria() {
    return welcome.talaria();
  }

  /** Returns Java's version on the other side. */
  String java() {
    return welcome.java();
  }

  @Override
  public void start(SocketTransport transport) throws HarnessException {
    line.send(ControlLine.start(transport.name()));
    line.await("started", Patience.times(START_LIMIT));
  }

  @Override
  public void order(Orders.Phase phase, Object body, Duration atMost) throws HarnessException {
    if (atMost != null) {
      limit = atMost;
    }
    line.send(
        ControlLine.order(
            Json.tree(new Orders.Order(phase, Json.tree(body))),
            atMost == null ? 0 : atMost.toMillis()));
  }

  @Override
  public <T> T await(Orders.Phase phase, Class<T> type) throws HarnessException {
    ControlLine.Line event = line.await("event", limit.plus(GRACE));
    if (!phase.name().equals(event.name())) {
      throw new HarnessException("the server ended " + event.name() + ", not " + phase);
    }
    try {
      return Json.as(event.payload(), type);
    } catch (IOException | IllegalArgumentException e) {
      throw new HarnessException("the server's end of " + phase + " carries nonsense", e);
    }
  }

  /** Stops the JVM; what was still to come from it is skipped. */
  @Override
  public void stop() {
    try {
      line.send(ControlLine.line("stop"));
      ControlLine.Line answer;
      do {
        answer = line.receive(GRACE.multipliedBy(2));
      } while (answer != null && !answer.type().equals("stopped"));
    } catch (HarnessException e) {
      line.close(); // the next order tells
    }
  }

  @Override
  public void close() {
    line.close();
  }
}
