// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Receives events about connections and errors. Called on the conductor, the poller or a handler
 * thread, so it must not wait. Exceptions that it throws go to the log {@code
 * io.talaria.messaging}. All methods do nothing unless overridden.
 */
public interface NodeListener {
  /**
   * A connection was made.
   *
   * @param reason why it uses this transport
   */
  default void connected(Peer peer, String transport, String reason) {}

  /**
   * A connection has ended without an orderly close.
   *
   * @param unacknowledgedBytes bytes that were sent and whose delivery is unknown
   */
  default void lost(Peer peer, String reason, long unacknowledgedBytes) {}

  /** A node could not be reached. Called once, not at each attempt. */
  default void unreachable(Peer peer, String reason) {}

  /**
   * A peer has been silent for longer than expected.
   *
   * @param silentNs for how long, in nanoseconds
   */
  default void suspect(Peer peer, long silentNs) {}

  /**
   * A thread of this process has begun to write a message and has not finished it, because its
   * codec takes long or because the thread has no core. Other threads can send until the ring has
   * no room. The conductor checks twice a second and reports each message once.
   *
   * @param to the node to which the message goes
   * @param type the message's type, or {@code copy} of one that was encoded before
   * @param thread the thread's name
   * @param openNs the shortest possible time since the message was begun, in nanoseconds
   */
  default void stalled(Peer to, String type, String thread, long openNs) {}

  /** A message or request was dropped: no receiver, another type, or bytes that cannot be read. */
  default void dropped(Peer from, String type, String reason) {}

  /**
   * A receiver or a request handler threw, or the consumer of a {@link ResponseFuture#whenDone}
   * threw, or its executor refused.
   *
   * @param from the sender of the message or response
   * @param type of the message or response
   */
  default void failed(Peer from, String type, Throwable thrown) {}
}
