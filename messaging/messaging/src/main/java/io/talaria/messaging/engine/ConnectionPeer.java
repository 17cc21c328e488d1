// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.Peer;
import io.talaria.messaging.records.Positions;
import io.talaria.messaging.types.Target;

/** The node at the other end of a connection, with what is kept from one connection to the next. */
public interface ConnectionPeer extends Peer {
  /** The inbox of messages from this peer to an ORDERED receiver. Poller only. */
  Inbox inbox(Target<?> target, Delivery delivery);

  /** The approximate number of messages and requests in this peer's own inboxes. Any thread. */
  int waiting();

  /** What ended connections had delivered. */
  Positions positions();
}
