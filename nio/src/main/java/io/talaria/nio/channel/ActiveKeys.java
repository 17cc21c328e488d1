// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.util.Arrays;

/** The keys a selector looks at directly in each pass. Confined to the selecting thread. */
final class ActiveKeys {
  /** Empty looks that all keys together may cost before the idle ones leave. */
  private static final int LOOKS = 64;

  private static final int MOST_PATIENCE = 64;
  private static final int LEAST_PATIENCE = 1;

  private TalariaSelectionKey[] keys = new TalariaSelectionKey[16];
  private int size;

  int size() {
    return size;
  }

  TalariaSelectionKey get(int index) {
    return keys[index];
  }

  /** How many looks in a row may find nothing before a key is watched instead. */
  int patience() {
    return Math.max(LEAST_PATIENCE, Math.min(MOST_PATIENCE, LOOKS / Math.max(1, size)));
  }

  void add(TalariaSelectionKey key) {
    if (key.activeIndex < 0) {
      if (size == keys.length) {
        keys = Arrays.copyOf(keys, size * 2);
      }
      key.emptyLooks = 0;
      key.activeIndex = size;
      keys[size++] = key;
    }
  }

  /** Removes a key; the last one takes its place, so a loop over the list runs backwards. */
  void remove(TalariaSelectionKey key) {
    int index = key.activeIndex;
    if (index >= 0) {
      key.activeIndex = -1;
      TalariaSelectionKey last = keys[--size];
      keys[size] = null;
      if (last != key) {
        keys[index] = last;
        last.activeIndex = index;
      }
    }
  }
}
