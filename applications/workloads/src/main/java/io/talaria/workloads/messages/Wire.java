// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

/** The sending end of a way for objects to another JVM. For one thread. */
interface Wire extends ObjectSender, AutoCloseable {
  /**
   * Makes what one more thread sends with; it ends with the wire.
   *
   * @throws UnsupportedOperationException if {@link MessagesImplementation#manyThreads} says no
   */
  default ObjectSender sender() {
    throw new UnsupportedOperationException("one thread only");
  }

  /** Sends what waits, and asks the other end what it has received so far. */
  Tally tally() throws Exception;

  /** Sends an object and waits until it is back. */
  Object request(Object message) throws Exception;

  @Override
  void close();
}
