// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import io.talaria.messaging.engine.LocalNode;
import java.io.IOException;
import java.time.Duration;

/**
 * A member of a cluster: sends to and receives from other nodes, on this host and others. Any
 * thread.
 *
 * <pre>{@code
 * record Price(long item, double value) {}
 *
 * Node node = Node.start(NodeOptions.of(7).type(Price.class)
 *     .receive(Price.class, Dispatch.ORDERED, (price, from) -> System.out.println(price)));
 * node.peer(9).send(new Price(1, 2.5));
 * }</pre>
 */
public interface Node extends AutoCloseable {
  /**
   * Starts a node: its threads, its listeners, its announcement to other nodes of this host.
   *
   * @throws IOException if it cannot listen, or the key or a directory cannot be used; then nothing
   *     is left running
   * @throws IllegalArgumentException if options do not fit together
   */
  static Node start(NodeOptions options) throws IOException {
    return LocalNode.start(options);
  }

  /** Its own number. */
  int id();

  /**
   * A node to send to, this one included.
   *
   * @throws IllegalArgumentException if the id is not from 0 to 65,534
   */
  Peer peer(int id);

  /**
   * Sends a message to several nodes. It is encoded once.
   *
   * @param outcome at each node's place: a position, or as {@link Peer#trySend}
   * @return to how many it was sent
   */
  int send(NodeSet nodes, Object message, long[] outcome);

  /** Has a listener told of what happens from now on. */
  void listen(NodeListener listener);

  /** The port that it listens on for TCP, or -1. */
  int port();

  /** What has been counted so far. */
  NodeCounters counters();

  /**
   * Ends the node: nothing is sent from now on, what is under way is given time to arrive,
   * connections end in order, waiting requests end with CLOSED. A receiver's own call does not wait
   * for itself.
   *
   * @param timeout how long to wait for what is under way
   * @return bytes that were sent and not yet taken out of a ring by their receivers
   */
  long close(Duration timeout);

  /** Ends the node, with two seconds for what is under way. */
  @Override
  default void close() {
    close(Duration.ofSeconds(2));
  }
}
