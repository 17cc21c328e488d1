// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.counters.Counts;
import io.talaria.messaging.types.Types;
import io.talaria.nio.spin.Spinning;

/**
 * The node that connections belong to: the parts that all of them share, and what it must be told.
 * Any thread, unless a method says otherwise; none waits for a peer.
 */
public interface ConnectionOwner {
  NodeOptions options();

  Types types();

  Counts counts();

  NodeEvents events();

  Poller poller();

  Delivery delivery();

  LargeMemory largeMemory();

  ResponseSlots responseSlots();

  /** How long leaders spin: threads that poll a control ring for their response. */
  Spinning leaderSpinning();

  /** How long a send waits. */
  long sendTimeoutNs();

  /** Whether the node is closing, or closed. */
  boolean closing();

  /** A larger ring is wanted. */
  void grow(Connection connection, int priority);

  /** GOODBYE or STAY has come. */
  void heard(Connection connection, byte kind);

  /**
   * Counts and reports a connection whose other end has ended, and which is kept until the messages
   * that have arrived were delivered. {@link #removed} comes later. Poller only.
   */
  void severed(Connection connection, String reason, long unacknowledgedBytes);

  /** Counts and reports a connection that the poller has closed. Poller only. */
  void removed(Connection connection, String reason, long unacknowledgedBytes);
}
