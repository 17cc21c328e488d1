// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * What has set a connection up and stays while it lives: the peer's end of it is the truth about
 * the peer. Both methods are called by the send thread, once.
 */
@FunctionalInterface
interface Life {
  /** The peer learns that this side is closed. */
  void end();

  /** The queue pair is closed: what else belongs to it may go. */
  default void release() {}
}
