// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * Is told what happens to connections and what goes wrong. On the registrar, on the poller or on a
 * handler: it must not wait. What it throws goes to the log, {@code io.talaria.messaging}. All
 * methods do nothing unless overridden.
 */
public interface NodeListener {
  /** There is a connection. */
  default void connected(Peer peer, String transport, String reason) {}

  /**
   * A connection has ended.
   *
   * @param reason why
   * @param unacknowledgedBytes bytes whose fate is unknown
   */
  default void lost(Peer peer, String reason, long unacknowledgedBytes) {}

  /** A node could not be reached; told once, not at each attempt. */
  default void unreachable(Peer peer, String reason) {}

  /** Nothing was heard of a peer for a while. */
  default void suspect(Peer peer, long silentNs) {}

  /**
   * A thread of this process has begun to write a message and not finished it: its codec takes
   * long, or it has no core. Others go on until there is no room. Looked for twice a second, told
   * once.
   *
   * @param to whom
   * @param type the message's type, or {@code copy} of one that was encoded before
   * @param thread the thread's name
   * @param openNs for how long it was seen, at least, in nanoseconds
   */
  default void stalled(Peer to, String type, String thread, long openNs) {}

  /** A message was dropped: no receiver, another type, or bytes that do not fit. */
  default void dropped(Peer from, String type, String reason) {}

  /**
   * A receiver or a request handler threw; or the consumer of a {@link ResponseFuture#whenDone}
   * did, or its executor refused.
   *
   * @param from who has sent the message, or the response
   * @param type of the message, or of the response
   */
  default void failed(Peer from, String type, Throwable thrown) {}
}
