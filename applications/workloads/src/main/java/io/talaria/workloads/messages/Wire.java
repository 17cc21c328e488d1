// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

/** The sending end of a way for objects to another JVM. One thread. */
interface Wire extends AutoCloseable {
  /** Sends an object; it may wait in a batch. */
  void send(Object message) throws Exception;

  /** Sends what waits, and asks the other end what it has received so far. */
  Tally tally() throws Exception;

  /** Sends an object and waits until it is back. */
  Object request(Object message) throws Exception;

  @Override
  void close();
}
