// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.harness.UcxPerftest.Figures;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * {@code ucx_perftest} on the same road as Talaria: both sides here, or the server started by a
 * server of ours on another host. Used by one thread, which closes it.
 */
final class Baseline implements AutoCloseable {
  private static final double LIMIT_TIMES = 10;
  private static final Duration LEAST_LIMIT = Duration.ofSeconds(5);

  private final UcxPerftest perftest;
  private final String transports;
  private final double seconds;
  private final String host;
  private final ControlLink link;

  private Baseline(
      Pinning pinning, String transports, double seconds, String host, ControlLink link) {
    perftest = new UcxPerftest(pinning);
    this.transports = transports;
    this.seconds = seconds;
    this.host = host;
    this.link = link;
  }

  /**
   * Both sides on this host.
   *
   * @param seconds how long a run shall take, about
   */
  static Baseline here(Pinning pinning, String transports, double seconds) {
    return new Baseline(pinning, transports, seconds, null, null);
  }

  /**
   * The server on another host.
   *
   * @throws HarnessException if it refuses
   */
  static Baseline to(
      String host, int port, String token, Pinning pinning, String transports, double seconds)
      throws HarnessException {
    try {
      ControlLink link = ControlLink.connect(new InetSocketAddress(host, port), token);
      return new Baseline(pinning, transports, seconds, host, link);
    } catch (IOException e) {
      throw new HarnessException(e.getMessage(), e);
    }
  }

  /**
   * Runs the test of a case.
   *
   * @param what the case
   * @param expected about what it will measure
   * @return nanoseconds or operations a second
   */
  double run(Case what, double expected) throws HarnessException, InterruptedException {
    UcxPerftest.Test test = what.test(what.iterations(expected, seconds), transports);
    Duration limit = Duration.ofMillis(Math.round(seconds * LIMIT_TIMES * 1_000));
    if (limit.compareTo(LEAST_LIMIT) < 0) {
      limit = LEAST_LIMIT;
    }
    Figures figures;
    if (link == null) {
      figures = perftest.run(test, limit);
    } else {
      figures = perftest.run(test, host, serverPort(), limit);
    }
    return what.figure(figures);
  }

  private int serverPort() throws HarnessException {
    try {
      link.send(FrameType.BASELINE, new Messages.Baseline(transports));
      return link.await(FrameType.BASELINE_READY, Messages.BaselineReady.class, ControlLink.LIMIT)
          .port();
    } catch (IOException e) {
      throw new HarnessException(e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    if (link != null) {
      link.close();
    }
  }
}
