// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.time.Duration;

/**
 * A member of a cluster: sends to and receives from other nodes, on this host and others. Any
 * thread.
 *
 * <pre>{@code
 * record Price(long item, double value) {}
 *
 * Node node = Nodes.start(NodeOptions.of(7).type(Price.class)
 *     .receive(Price.class, Dispatch.ORDERED, (price, from) -> System.out.println(price)));
 * node.peer(9).send(new Price(1, 2.5));
 * }</pre>
 */
public interface Node extends AutoCloseable {
  /** This node's id, 0 to 65,534. */
  int id();

  /**
   * Returns the peer with an id, which may be this node's own. Does not connect.
   *
   * @throws IllegalArgumentException if the id is not from 0 to 65,534
   */
  Peer peer(int id);

  /**
   * Sends a message to several nodes. Encodes it once. Waits for connections and for room, at most
   * {@link NodeOptions#sendTimeout} for all nodes together; does not wait on the poller, or if the
   * thread is interrupted, whose interrupt status is kept.
   *
   * @param outcome receives, at each node's index in the set, a position or the reason why the
   *     message was not sent, as {@link Peer#trySend} returns it; must not be shorter than the set
   * @return the number of nodes to which the message was sent
   */
  int send(NodeSet nodes, Object message, long[] outcome);

  /** Adds a listener, which is called for all events from now on. Listeners cannot be removed. */
  void listen(NodeListener listener);

  /** The TCP port on which this node listens, or -1 if it does not listen. */
  int port();

  /** A snapshot of what the node has counted since its start. */
  NodeCounters counters();

  /**
   * Closes the node: refuses new messages, waits until what was sent has been delivered, closes the
   * connections in order, and ends open requests with CLOSED. A call from an INLINE receiver does
   * not wait. A second call returns 0 at once.
   *
   * <p>Transports other than shared memory take what was sent out of the rings before it arrives.
   * After that this waits at most one more second for the other nodes, and does not count what has
   * not arrived there.
   *
   * @param timeout how long to wait for the delivery of what was sent
   * @return the number of sent bytes that receivers had not yet taken out of their rings, also of
   *     nodes whose process has ended meanwhile; this node's notice that it closes counts, too
   */
  long close(Duration timeout);

  /** Closes the node, and waits at most two seconds for the delivery of what was sent. */
  @Override
  default void close() {
    close(Duration.ofSeconds(2));
  }
}
