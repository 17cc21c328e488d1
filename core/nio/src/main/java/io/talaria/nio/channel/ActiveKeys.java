// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.util.Arrays;

/** The keys a selector looks at directly in each pass. Confined to the selecting thread. */
final class ActiveKeys {
  /** Empty looks that all keys together may cost before the idle ones leave. */
  private static final int LOOKS = 64;

  private static final int MAX_PATIENCE = 64;
  private static final int MIN_PATIENCE = 1;

  /** A key is rare if so many others, or more, are hinted between two hints for it. */
  private static final int RARE = 16;

  private TalariaSelectionKey[] keys = new TalariaSelectionKey[16];
  private int size;
  private long hints;

  int size() {
    return size;
  }

  TalariaSelectionKey get(int index) {
    return keys[index];
  }

  /** How many looks in a row may find nothing before a key is watched instead. */
  int patience(TalariaSelectionKey key) {
    return key.rare ? 0 : Math.max(MIN_PATIENCE, Math.min(MAX_PATIENCE, LOOKS / Math.max(1, size)));
  }

  /** Adds a key that a hint has brought back, and learns from it how often that happens. */
  void addHinted(TalariaSelectionKey key) {
    long now = ++hints;
    key.rare = now - key.hintedAt > RARE;
    key.hintedAt = now;
    add(key);
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
