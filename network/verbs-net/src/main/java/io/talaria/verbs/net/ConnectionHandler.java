// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * What a program does with connections. One object may serve many. All calls of one connection come
 * from its receive thread, one after the other; connections of one receive thread share it.
 *
 * <p>A handler that blocks stalls the connections of its thread: their peers run out of credits and
 * stop; other threads continue. An exception that a handler throws is logged and closes the
 * connection; the thread continues.
 */
public interface ConnectionHandler {
  /**
   * The connection is open. Comes before any other call; on the side that connects perhaps after
   * {@link VerbsNode#connect} has returned.
   *
   * @param connection a new one
   */
  default void connected(Connection connection) {}

  /**
   * A message has arrived.
   *
   * @param connection by which
   * @param message is valid until this method returns, unless {@link Message#keep} is called
   */
  void message(Connection connection, Message message);

  /**
   * There may be room again after a send or a borrow was refused. May be called without a reason.
   *
   * @param connection to try again
   */
  default void writable(Connection connection) {}

  /**
   * The connection is closed; the last call. Messages that the peer had sent before it closed in an
   * orderly way have been handed over by now, unless this side has closed.
   *
   * @param connection that is over
   * @param reason why
   */
  default void closed(Connection connection, CloseReason reason) {}
}
