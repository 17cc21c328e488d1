// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.SelectorReadySets;
import io.talaria.nio.transport.TransportStream;

/**
 * How a selector looks at its transports: at the active keys directly, and at all others by watches
 * that bring them back to the active ones. Confined to the selecting thread.
 */
final class TransportLook {
  private final TalariaSelector selector;
  private final Registrations registrations;
  private final SelectorReadySets readySets;
  private final ActiveKeys active;
  private final ReadyKeys ready;
  private final ReadySet.ReadySink hinted = this::hinted;

  /** Whether a key that waits is deaf: see {@link ConnectionPath#deaf}. */
  private boolean anyDeaf;

  TransportLook(
      TalariaSelector selector,
      Registrations registrations,
      SelectorReadySets readySets,
      ActiveKeys active,
      ReadyKeys ready) {
    this.selector = selector;
    this.registrations = registrations;
    this.readySets = readySets;
    this.active = active;
    this.ready = ready;
  }

  /** One look: takes up changes and hints, and reports the active keys that are ready. */
  @NotInlined
  void pass() {
    if (!ready.seen()) { // what an action of this select changes is for the next one, as on the JDK
      registrations.takeChanges();
    }
    readySets.look(hinted);
    for (int i = active.size() - 1; i >= 0; i--) {
      TalariaSelectionKey key = active.get(i);
      if (key.isValid()) {
        lookAt(key);
      } else {
        active.remove(key);
      }
    }
  }

  private void hinted(TransportStream stream) {
    RegisteredKeys registered = ((TalariaSocketChannel) stream.attachment()).keys();
    TalariaSelectionKey key = registered.with(selector);
    if (key != null) {
      active.addHinted(key);
      if (!key.rare) {
        stream.unwatch(); // it is looked at directly from now on
      }
    } else { // it has moved while we looked, and we have taken the hint from its new selector
      for (TalariaSelectionKey other : registered.all()) {
        other.owner().nudge(other);
      }
    }
  }

  private void lookAt(TalariaSelectionKey key) {
    ConnectionPath connectionPath = key.socket.connectionPath();
    int wanted = wanted(key);
    int found = connectionPath.readiness(wanted);
    if (found != 0) {
      key.emptyLooks = 0;
      ready.report(key, found);
    } else if (++key.emptyLooks > active.patience(key)
        && !connectionPath.membership().shared()
        && !key.deaf
        && watch(key, connectionPath, wanted)) {
      active.remove(key);
    }
    if (key.deaf && !connectionPath.deaf()) {
      selector.changed(key); // the program has read: the control connection is listened to again
    }
  }

  /** TransportStream's bits are those of SelectionKey. */
  private static int wanted(TalariaSelectionKey key) {
    return key.interest() & (TransportStream.READ | TransportStream.WRITE);
  }

  /** Sets a watch; false if something is ready after all. */
  private static boolean watch(TalariaSelectionKey key, ConnectionPath connectionPath, int ops) {
    if (!connectionPath.attached() || !key.waited) {
      return true; // the JDK's selector watches, or another of ours
    }
    TransportStream stream = connectionPath.stream();
    if (ops == 0) {
      stream.unwatch();
      return true;
    }
    // A direction still on TCP is watched by the JDK's selector, whatever the stream says of it.
    return (key.rare ? stream.watchEvery(ops) : stream.watch(ops))
        || connectionPath.readiness(ops) == 0;
  }

  /** Sets the watches of all active keys; false if one has something to report. */
  @NotInlined
  boolean prepareToSleep() {
    anyDeaf = false;
    for (int i = active.size() - 1; i >= 0; i--) {
      TalariaSelectionKey key = active.get(i);
      ConnectionPath connectionPath = key.socket.connectionPath();
      int wanted = wanted(key);
      anyDeaf |= key.deaf;
      if (!key.isValid()) {
        active.remove(key);
      } else if (connectionPath.readiness(wanted) != 0) {
        return false;
      } else if (connectionPath.attached() && connectionPath.membership().shared()) {
        if (wanted != 0
            && !connectionPath.stream().await(wanted)
            && connectionPath.readiness(wanted) != 0) {
          return false;
        }
      } else if (!watch(key, connectionPath, wanted)) {
        return false;
      } else if (!key.deaf) {
        active.remove(key);
      }
    }
    return true;
  }

  /** Whether one of the keys for which {@link #prepareToSleep} has prepared is deaf. */
  boolean anyDeaf() {
    return anyDeaf;
  }
}
