// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.workloads.messages.objects.Tally;
import org.agrona.concurrent.IdleStrategy;

/**
 * The sending end of a way for objects to another JVM. For one thread, but for its senders and,
 * where {@link MessagesImplementation#manyThreads} says so, for requests.
 */
public interface Wire extends AutoCloseable {
  /**
   * Makes what a thread sends with; it ends with the wire. More than one only where {@link
   * MessagesImplementation#manyThreads} says so.
   *
   * @param full how it waits for room, where the implementation does not wait itself
   */
  ObjectSender sender(IdleStrategy full);

  /** Asks the other end what it has received so far. All senders are flushed. */
  Tally tally() throws Exception;

  /** Sends an object and waits until it is back. */
  Object request(Object message) throws Exception;

  @Override
  void close();
}
