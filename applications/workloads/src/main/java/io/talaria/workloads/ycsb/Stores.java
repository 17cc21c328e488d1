// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import site.ycsb.DB;

/** The connections of a client JVM to a store. The caller that opens them closes them. */
public interface Stores extends AutoCloseable {
  /** Opens connections. */
  @FunctionalInterface
  interface Opener {
    /**
     * Opens as many connections as a phase needs.
     *
     * @param job the phase
     * @param failures where operations that fail are noted
     * @throws Exception if it cannot; a {@link io.talaria.cli.harness.HarnessException} is for the
     *     user
     */
    Stores open(YcsbJob job, Failures failures) throws Exception;
  }

  /**
   * Returns the binding of one thread. Its {@code init} and {@code cleanup} do nothing.
   *
   * @param thread the thread's number, from 0
   */
  DB forThread(int thread);

  /** Returns how many connections there are. */
  int connections();

  /**
   * Sends a message there and one back on each connection.
   *
   * @throws Exception if that failed
   */
  void ping() throws Exception;

  @Override
  void close();
}
