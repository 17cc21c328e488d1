// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;

/** Flight Recorder event: a receiver or a request handler has run. */
@Name("io.talaria.MessageHandler")
@Label("Message Handler")
@Description("A receiver or a request handler has run.")
@Category({"Talaria", "Messages"})
@Threshold("10 ms")
final class HandlerEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(HandlerEvent.class);

  @Label("Type")
  String type;

  @Label("Peer")
  int peer;

  static HandlerEvent begun() {
    if (!TYPE.isEnabled()) {
      return null;
    }
    HandlerEvent event = new HandlerEvent();
    event.begin();
    return event;
  }

  void handled(String type, int peer) {
    end();
    if (shouldCommit()) {
      this.type = type;
      this.peer = peer;
      commit();
    }
  }
}
