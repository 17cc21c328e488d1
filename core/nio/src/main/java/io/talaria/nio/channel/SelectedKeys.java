// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.nio.channels.SelectionKey;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/**
 * The selected-key set of one selector: keys may be removed by anyone but added only by the
 * selector, without allocation. As thread-safe as the JDK's, which is not at all.
 */
final class SelectedKeys extends AbstractSet<SelectionKey> {
  private TalariaSelectionKey[] keys = new TalariaSelectionKey[64];
  private int size;

  /** The iterator handed out last; handed out again once it has said that it is at its end. */
  private KeyIterator spare;

  /** Adds a key of this selector; false if it is in the set already. */
  boolean select(TalariaSelectionKey key) {
    if (key.selectedIndex >= 0) {
      return false;
    }
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, size * 2);
    }
    key.selectedIndex = size;
    keys[size++] = key;
    return true;
  }

  private boolean holds(Object object) {
    if (!(object instanceof TalariaSelectionKey key)) {
      return false;
    }
    int index = key.selectedIndex;
    return index >= 0 && index < size && keys[index] == key;
  }

  @Override
  public boolean contains(Object object) {
    return holds(object);
  }

  @Override
  public boolean remove(Object object) {
    if (!holds(object)) {
      return false;
    }
    removeAt(((TalariaSelectionKey) object).selectedIndex);
    return true;
  }

  /** Another thread may close the selector, and so clear the set, between any two lines. */
  private void removeAt(int index) {
    TalariaSelectionKey[] all = keys;
    int end = size - 1;
    TalariaSelectionKey last = end >= index ? all[end] : null;
    TalariaSelectionKey removed = all[index];
    if (last == null || removed == null) {
      throw changed();
    }
    removed.selectedIndex = -1;
    size = end;
    all[end] = null;
    if (index < end) {
      all[index] = last;
      last.selectedIndex = index;
    }
  }

  /** What sets of the JDK throw. */
  private static ConcurrentModificationException changed() {
    return new ConcurrentModificationException(
        "selected keys were removed by another thread, or its close of the selector");
  }

  @Override
  public void clear() {
    TalariaSelectionKey[] all = keys;
    for (int i = 0; i < size; i++) {
      TalariaSelectionKey key = all[i];
      if (key != null) { // a reader of the set may have removed it as the selector closes
        key.selectedIndex = -1;
        all[i] = null;
      }
    }
    size = 0;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void forEach(Consumer<? super SelectionKey> action) {
    for (int i = 0; i < size; i++) {
      action.accept(keys[i]);
    }
  }

  @Override
  public Iterator<SelectionKey> iterator() {
    KeyIterator iterator = spare;
    if (iterator == null || !iterator.finished) {
      iterator = new KeyIterator();
      spare = iterator;
    }
    iterator.restart();
    return iterator;
  }

  /** Walks backwards, so that a removal moves only keys that were visited already. */
  private final class KeyIterator implements Iterator<SelectionKey> {
    private int next;
    private TalariaSelectionKey last;
    private boolean finished;

    void restart() {
      next = size - 1;
      last = null;
      finished = false;
    }

    @Override
    public boolean hasNext() {
      boolean more = next >= 0;
      finished = !more;
      return more;
    }

    @Override
    public SelectionKey next() {
      if (next < 0 || next >= size) {
        throw new NoSuchElementException();
      }
      last = keys[next--];
      if (last == null) {
        throw changed();
      }
      return last;
    }

    @Override
    public void remove() {
      if (last == null) {
        throw new IllegalStateException("next has not been called");
      }
      int index = last.selectedIndex;
      if (index >= 0) {
        removeAt(index);
      }
      last = null;
    }
  }
}
