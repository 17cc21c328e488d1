// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import java.nio.channels.SelectionKey;
import java.util.function.Consumer;

/**
 * What one select finds ready, and how the program gets to know it: by the selected-key set, or by
 * the action that it gave to this select. Confined to the selecting thread.
 */
final class ReadyKeys {
  private final TalariaSelector selector;
  private final SelectedKeys selected = new SelectedKeys();

  /** What the program wants to be done with each key, or null. */
  private Consumer<SelectionKey> action;

  /** Whether the program's action is being run. */
  private boolean acting;

  private int found;

  /** Whether something is ready, be it news or known to the program already. */
  private boolean seen;

  private long selects;

  /**
   * @param selector told of the first action of a select, and asked, after each, whether it is
   *     still open
   */
  ReadyKeys(TalariaSelector selector) {
    this.selector = selector;
  }

  SelectedKeys selected() {
    return selected;
  }

  /** A select begins; {@link #end} must follow. */
  void begin(Consumer<SelectionKey> how) {
    action = how;
    acting = false;
    found = 0;
    seen = false;
    selects++;
  }

  void end() {
    action = null;
  }

  /** How many keys this select has for the program. */
  int found() {
    return found;
  }

  /** Whether this select has anything to report, be it news or not. */
  boolean seen() {
    return seen;
  }

  /** Whether the program's action has been given a key in this select. */
  boolean acted() {
    return action != null && found > 0;
  }

  /** Whether the program's action is being run, or has thrown. */
  boolean acting() {
    return acting;
  }

  /** Number of this select. */
  long selects() {
    return selects;
  }

  /**
   * A key is ready.
   *
   * @param ready of SelectionKey, whose bits TransportStream's are
   */
  void report(TalariaSelectionKey key, int ready) {
    seen = true;
    if (action != null) {
      if (key.countedIn != selects) {
        if (found == 0) {
          selector.forgetWakeUp();
        }
        key.countedIn = selects;
        key.ready(ready);
        found++;
        acting = true;
        action.accept(key);
        acting = false;
        selector.ensureOpen(); // the action may have closed it
      }
    } else if (selected.select(key)) {
      key.ready(ready);
      key.countedIn = selects;
      found++;
    } else if ((key.ready() | ready) != key.ready()) {
      key.ready(key.ready() | ready);
      if (key.countedIn != selects) { // both transports may report a key in one select
        key.countedIn = selects;
        found++;
      }
    }
  }

  /** A key's channel underneath is ready, for more than the program may want to know. */
  void reportWanted(TalariaSelectionKey key, int ready) {
    int wanted = ready & key.interest();
    if (wanted != 0) {
      report(key, wanted);
    }
  }
}
