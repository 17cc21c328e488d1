// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

/** The sending end of a way for objects to another JVM. One thread, but for what has lanes. */
interface Wire extends Lane, AutoCloseable {
  /**
   * Makes a lane for one more thread; it ends with the wire.
   *
   * @throws UnsupportedOperationException if {@link MessagesImplementation#manyThreads} says no
   */
  default Lane lane() {
    throw new UnsupportedOperationException("one thread only");
  }

  /** Sends what waits, and asks the other end what it has received so far. */
  Tally tally() throws Exception;

  /** Sends an object and waits until it is back. */
  Object request(Object message) throws Exception;

  @Override
  void close();
}
