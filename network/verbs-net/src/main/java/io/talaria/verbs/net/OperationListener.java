// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * Is called when an operation on remote memory, or a large message, is over. On a thread of the
 * node, which serves other connections too: it must not block. What it throws closes the
 * connection.
 */
@FunctionalInterface
public interface OperationListener {
  /** The operation is done. */
  int DONE = 0;

  /** The connection ended before it was known to be done. */
  int CLOSED = -1;

  /**
   * An operation is over.
   *
   * @param connection of the operation
   * @param token what the program has given it
   * @param status {@link #DONE}, {@link #CLOSED}, or one of the constants of {@link
   *     io.talaria.verbs.Status}, and the connection is being closed
   */
  void over(Connection connection, long token, int status);
}
