// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.util.ArrayDeque;

/** The keys of a selector whose interest or channel has changed since it looked. Any thread. */
final class ChangedKeys {
  private final ArrayDeque<TalariaSelectionKey> queue = new ArrayDeque<>();

  /** May be set without a key: then it is only a reason not to sleep. */
  private volatile boolean some;

  void add(TalariaSelectionKey key) {
    synchronized (queue) {
      if (!key.changeQueued) {
        key.changeQueued = true;
        queue.add(key);
      }
      some = true;
    }
  }

  /** Keeps the selector from sleeping before it has looked once more. */
  void mark() {
    synchronized (queue) { // or a thread that finds the queue empty would take it back
      some = true;
    }
  }

  boolean some() {
    return some;
  }

  /** Takes the next, or null if there is none. */
  TalariaSelectionKey poll() {
    synchronized (queue) {
      TalariaSelectionKey key = queue.poll();
      if (key == null) {
        some = false;
      } else {
        key.changeQueued = false;
      }
      return key;
    }
  }
}
