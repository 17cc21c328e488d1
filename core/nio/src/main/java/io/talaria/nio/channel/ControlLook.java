// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.transport.ReadySet;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;

/**
 * What a selector makes of the news from the JDK's selector: plain channels are ready, accelerated
 * ones have a doorbell on their control connection, or its end. Confined to the selecting thread.
 */
final class ControlLook {
  private final InnerSelector inner;
  private final ActiveKeys active;
  private final ReadyKeys ready;

  ControlLook(InnerSelector inner, ActiveKeys active, ReadyKeys ready) {
    this.inner = inner;
    this.active = active;
    this.ready = ready;
  }

  /** The JDK's selector has something for one of its keys. */
  void innerReady(SelectionKey below) {
    if (!(below.attachment() instanceof TalariaSelectionKey key)) {
      ((ReadySet) below.attachment()).selected(); // the next pass makes the progress
      return;
    }
    if (!key.isValid()) {
      return;
    }
    int found;
    try {
      found = below.readyOps();
    } catch (CancelledKeyException e) {
      return; // the channel is closing; its key goes with the next pass
    }
    ConnectionPath connectionPath = key.socket == null ? null : key.socket.connectionPath();
    if (connectionPath == null || !connectionPath.attached()) {
      if (connectionPath != null && connectionPath.stream() != null) {
        connectionPath.controlReadable(); // an upgrade waits for our consent
        active.add(key);
      }
      ready.reportWanted(key, found);
      return;
    }
    active.add(key);
    if ((found & SelectionKey.OP_READ) != 0) {
      connectionPath.controlReadable();
      Registrations.nudgeOthers(key); // a doorbell is for all of them, but only one reads it
      if (!connectionPath.attached()) { // TCP continues, and this event was its
        ready.reportWanted(key, found);
        return;
      }
      key.deaf = connectionPath.switchedOut() && connectionPath.deaf();
      if (!connectionPath.controlOpen() || key.deaf) {
        inner.interest(key, 0, true);
      }
    }
    if (!connectionPath.switchedOut()) {
      ready.reportWanted(key, found & SelectionKey.OP_WRITE);
    }
  }
}
