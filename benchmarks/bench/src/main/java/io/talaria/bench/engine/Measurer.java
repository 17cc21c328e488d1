// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.time.Duration;

/**
 * One of the measuring JVMs, here or on another machine, as the command sees it. Orders are given
 * by one thread, events awaited by one thread.
 */
interface Measurer extends AutoCloseable {
  /**
   * Starts a JVM; the one before must have been stopped.
   *
   * @throws HarnessException if it does not start
   */
  void start(SocketTransport transport) throws HarnessException, InterruptedException;

  /**
   * Gives an order.
   *
   * @param phase what to do
   * @param body what belongs to it
   * @param limit how long it may take; null if no end is reported
   * @throws HarnessException if the JVM or machine is gone
   */
  void order(Orders.Phase phase, Object body, Duration limit) throws HarnessException;

  /**
   * Waits for the end of what was ordered last.
   *
   * @throws HarnessException if it failed, did not end in time, or the JVM or machine is gone
   */
  <T> T await(Orders.Phase phase, Class<T> type) throws HarnessException, InterruptedException;

  /** Ends the JVM, whatever it does. */
  void stop();

  /** Ends all; does nothing if it has ended. */
  @Override
  void close();
}
