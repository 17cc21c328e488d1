// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * The channel that has set a connection up and stays open as long as the connection: its state at
 * the peer's end decides whether the peer is still there. Both methods are called by the send
 * thread, once.
 */
@FunctionalInterface
interface Life {
  /** Tells the peer that this side is closed. */
  void end();

  /** Releases what else belongs to the queue pair, which is closed. */
  default void release() {}
}
