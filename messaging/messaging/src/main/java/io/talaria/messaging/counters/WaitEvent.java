// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;

/** Flight Recorder event: a thread has waited for a node. */
@Name("io.talaria.MessageWait")
@Label("Message Wait")
@Description("A thread has waited for a node.")
@Category({"Talaria", "Messages"})
@Threshold("10 ms")
final class WaitEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(WaitEvent.class);

  @Label("For")
  String what;

  @Label("Peer")
  int peer;

  static WaitEvent begun() {
    if (!TYPE.isEnabled()) {
      return null;
    }
    WaitEvent event = new WaitEvent();
    event.begin();
    return event;
  }

  void waited(String what, int peer) {
    end();
    if (shouldCommit()) {
      this.what = what;
      this.peer = peer;
      commit();
    }
  }
}
