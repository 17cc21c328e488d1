// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.WarmUp;
import java.util.concurrent.TimeUnit;

/** Lets connections of a child JVM take the road they will take, before anything counts. */
public final class Settling {
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(10);
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
   * Exchanges messages, once at least, until the connections are accelerated, as they will be with
   * traffic in both directions; gives up after ten seconds. Plain sockets need no more than one.
   *
   * @param connections how many connections there are
   * @param exchange what to do
   * @throws Exception if an exchange failed
   */
  public static void await(int connections, Exchange exchange) throws Exception {
    long begin = System.nanoTime();
    exchange.run();
    while (!WarmUp.settled(connections) && System.nanoTime() - begin < LIMIT_NS) {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
      exchange.run();
    }
  }
}
