// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

/** Receives the events of a link. Called by any thread; must neither wait nor throw. */
public interface LinkOwner {
  /** Wakes the thread that receives for this node. */
  void wakePoller();

  /** Wakes threads that wait: there may be room, or something was delivered. */
  void wakeWaiters();

  /** The link will end soon. What has arrived until then is still delivered. */
  void ending(String reason);

  /** The link cannot be used any more. */
  void failed(String reason);
}
