// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.nio.channels.SelectionKey;
import java.util.Arrays;

/** The keys of one channel, few; changed under a lock, read by anyone. */
final class RegisteredKeys {
  private static final TalariaSelectionKey[] NONE = {};

  private volatile TalariaSelectionKey[] keys = NONE;

  /** The first of them, where a selector looks first: mostly there is one. */
  private volatile TalariaSelectionKey first;

  synchronized void add(TalariaSelectionKey key) {
    TalariaSelectionKey[] now = Arrays.copyOf(keys, keys.length + 1);
    now[now.length - 1] = key;
    keys = now;
    first = now[0];
  }

  synchronized void remove(TalariaSelectionKey key) {
    TalariaSelectionKey[] now = keys;
    for (int i = 0; i < now.length; i++) {
      if (now[i] == key) {
        TalariaSelectionKey[] fewer = Arrays.copyOf(now, now.length - 1);
        if (i < fewer.length) {
          fewer[i] = now[now.length - 1];
        }
        keys = fewer;
        first = fewer.length == 0 ? null : fewer[0];
        return;
      }
    }
  }

  TalariaSelectionKey[] all() {
    return keys;
  }

  /** The valid key with a selector, or null. */
  TalariaSelectionKey with(TalariaSelector selector) {
    TalariaSelectionKey likely = first;
    if (likely != null && likely.owner() == selector && likely.isValid()) {
      return likely;
    }
    for (TalariaSelectionKey key : keys) {
      if (key.owner() == selector && key.isValid()) {
        return key;
      }
    }
    return null;
  }

  /**
   * Frees the channel underneath from the JDK's selectors, when no key of ours is valid any more.
   */
  void cancelInner() {
    for (TalariaSelectionKey key : keys) {
      SelectionKey inner = key.inner;
      if (!key.isValid() && inner != null) {
        inner.cancel();
      }
    }
  }
}
