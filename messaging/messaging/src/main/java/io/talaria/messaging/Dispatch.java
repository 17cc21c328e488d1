// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Selects the thread on which a receiver or a request handler runs, and the order of its messages.
 *
 * <p>With ORDERED, SERIAL and CONCURRENT a slow receiver delays only its own messages. If too many
 * wait for it, the nodes that send to it hold back further ones ({@link Peer#BACK_PRESSURED}) until
 * it has handled most of them. Messages that are already on their way to it are kept in memory,
 * within {@link NodeOptions#maxWaitingBytes(long)} each and {@link NodeOptions#receiveBudget(long)}
 * together.
 *
 * <p>A receiver that interrupts its own thread affects nothing after it: the node clears the
 * interrupt status when the receiver returns.
 */
public enum Dispatch {
  /**
   * On the node's poller, at once, in the order in which each node sent. Must not wait: {@code
   * send}, {@code request} and {@code awaitDelivered} throw an {@link IllegalStateException} there;
   * {@code trySend} and {@code respond} do not wait. While it runs, the node receives nothing else.
   */
  INLINE,
  /**
   * On a handler thread, one message of a node and receiver at a time, in the order in which each
   * thread of that node sent. May wait in calls of this package: another handler thread takes over
   * meanwhile.
   */
  ORDERED,
  /** Like ORDERED, but one message at a time for all nodes together. */
  SERIAL,
  /** On handler threads, several messages at once, in no order. */
  CONCURRENT,
  /**
   * Each message on its own virtual thread, in no order. May wait for anything. While {@link
   * NodeOptions#maxVirtualThreads} of them run, the next message for such a receiver blocks
   * everything behind it from the same node, until one of them returns. Responses are not blocked,
   * nor are nodes that send nothing to such a receiver. So at the maximum these threads may wait
   * for responses, but not for messages of the same nodes.
   */
  VIRTUAL
}
