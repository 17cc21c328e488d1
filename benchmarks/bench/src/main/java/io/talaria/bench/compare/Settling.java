// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.cli.harness.HarnessException;
import java.util.concurrent.TimeUnit;

/** Lets connections of a child JVM take the transport they will take, before anything counts. */
public final class Settling {
  private static final long PAUSE_MS = 1;

  private Settling() {}

  /** A message there and one back on each connection. */
  @FunctionalInterface
  public interface Exchange {
    /**
     * Makes the exchange.
     *
     * @throws Exception if it failed
     */
    void run() throws Exception;
  }

  /**
   * Exchanges messages, once at least, until the connections have taken their transports, as they
   * will with traffic in both directions. Plain sockets need no more than one exchange.
   *
   * @param connections how many connections there are
   * @param exchange what to do
   * @throws HarnessException if one must be accelerated and was not
   * @throws Exception if an exchange failed
   */
  public static void await(int connections, Exchange exchange) throws Exception {
    long begin = System.nanoTime();
    exchange.run();
    while (System.nanoTime() - begin < TransportProbe.undecidedNs(connections)) {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
      exchange.run();
    }
    if (TransportProbe.accelerates()) {
      Pair.requireAccelerated(Implementation.TALARIA, "client", TransportProbe.look(), connections);
    }
  }
}
