// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

/** Whom a track tells what has happened. Any thread; neither waits nor throws. */
public interface TrackOwner {
  /** Has the thread look that receives for this node. */
  void wakePoller();

  /** There may be room, or something was delivered. */
  void wakeWaiters();

  /** Why it will be over soon; what has come until then is taken. */
  void ending(String reason);

  /** The track cannot be used any more. */
  void failed(String reason);
}
