// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * On which thread a receiver or a request handler runs, and in what order.
 *
 * <p>With ORDERED, SERIAL and CONCURRENT a receiver that is slow delays its own messages alone:
 * when too many wait for it, the nodes that send to it hold back what is for it ({@link
 * Peer#BACK_PRESSURED}), and go on when it has taken most. What is on its way for it is kept
 * meanwhile, within {@link NodeOptions#receiveBudget}.
 */
public enum Dispatch {
  /**
   * On the node's poller, at once, in the order sent by each node. It must not wait: {@code send},
   * {@code request} and {@code awaitDelivered} throw an {@link IllegalStateException} there, {@code
   * trySend} and {@code respond} do not wait. While it runs nothing else is received.
   */
  INLINE,
  /**
   * On a handler thread, one message of a node for a receiver after the other, in the order sent by
   * each of that node's threads. It may wait in calls of this package: another handler takes over.
   */
  ORDERED,
  /** Like ORDERED, and one message after the other for all nodes. */
  SERIAL,
  /** On handler threads, several at once, in no order. */
  CONCURRENT,
  /**
   * Each on a virtual thread of its own, in no order; it may wait for anything. As long as {@link
   * NodeOptions#maxVirtualThreads} of them run, nothing behind the next message is received from
   * its node.
   */
  VIRTUAL
}
