// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import io.talaria.cli.ports.PortLine;
import io.talaria.cli.screen.Key;
import io.talaria.monitor.CounterKind;
import io.talaria.monitor.PortId;
import io.talaria.monitor.Traffic;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What the user has chosen to see, and what each key changes of it. For one thread. */
final class TopState {
  /** How many ports stand side by side at most. */
  static final int MAX_CHOSEN = 4;

  private static final double[] INTERVALS = {0.2, 0.5, 1, 2, 5, 10};

  /** What a screen is about. */
  enum Page {
    PORTS('1', "ports"),
    SIDE('2', "side by side"),
    FABRIC('3', "fabric"),
    CONNECTIONS('4', "connections");

    private final char key;
    private final String title;

    Page(char key, String title) {
      this.key = key;
      this.title = title;
    }

    /** The page of a key. */
    static Page of(char key) {
      for (Page page : values()) {
        if (page.key == key) {
          return page;
        }
      }
      throw new IllegalArgumentException("no page has the key " + key);
    }

    char key() {
      return key;
    }

    String title() {
      return title;
    }
  }

  /** The order of rows. */
  enum Sort {
    NAME("name"),
    IN("in"),
    OUT("out"),
    ERRORS("errors");

    private final String title;

    Sort(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }

    Sort next() {
      return switch (this) {
        case NAME -> IN;
        case IN -> OUT;
        case OUT -> ERRORS;
        case ERRORS -> NAME;
      };
    }

    List<PortLine> sorted(List<PortLine> lines) {
      List<PortLine> sorted = new ArrayList<>(lines);
      switch (this) {
        case NAME -> {}
        case IN -> sorted.sort(most(line -> rate(line, Traffic.RECEIVED)));
        case OUT -> sorted.sort(most(line -> rate(line, Traffic.SENT)));
        case ERRORS ->
            sorted.sort(
                most(line -> line.reading() == null ? -1 : line.reading().sum(CounterKind.ERRORS)));
      }
      return sorted;
    }

    private static Comparator<PortLine> most(java.util.function.ToDoubleFunction<PortLine> of) {
      return Comparator.comparingDouble(of).reversed();
    }

    private static double rate(PortLine line, Traffic traffic) {
      return line.rates() == null ? -1 : line.rates().perSecond(CounterKind.DATA, traffic);
    }
  }

  /** What a key asks for beside what changes here. */
  enum Wish {
    NOTHING,
    LEAVE,
    RESCAN,
    SET_BASE,
    INTERVAL
  }

  private final Set<PortId> chosen = new LinkedHashSet<>();
  private Page page = Page.PORTS;
  private Sort sort = Sort.NAME;
  private int interval;
  private int cursor;
  private boolean bits;
  private boolean paused;
  private boolean errorsOnly;
  private boolean help;

  /** Begins with a page and the interval that is nearest. */
  TopState(Page page, double seconds) {
    this.page = page;
    while (interval < INTERVALS.length - 1 && INTERVALS[interval] < seconds) {
      interval++;
    }
  }

  /**
   * Takes a key.
   *
   * @param rows the ports of the page as they are shown
   * @param pageRows how many of them fit
   */
  Wish press(Key key, List<PortLine> rows, int pageRows) {
    if (key.leaves() || (key.name() == Key.Name.ESCAPE && !help)) {
      return key.name() == Key.Name.ESCAPE ? back() : Wish.LEAVE;
    }
    if (help) {
      help = false;
      return Wish.NOTHING;
    }
    switch (key.name()) {
      case UP, LEFT -> cursor--;
      case DOWN, RIGHT -> cursor++;
      case PAGE_UP -> cursor -= pageRows;
      case PAGE_DOWN -> cursor += pageRows;
      case HOME -> cursor = 0;
      case END -> cursor = rows.size() - 1;
      case ENTER -> choose(rows, true);
      case CHARACTER -> {
        return character(key.character(), rows);
      }
      default -> {}
    }
    cursor = Math.max(0, Math.min(cursor, rows.size() - 1));
    return Wish.NOTHING;
  }

  private Wish back() {
    page = Page.PORTS;
    return Wish.NOTHING;
  }

  private Wish character(char character, List<PortLine> rows) {
    switch (character) {
      case '1', '2', '3', '4' -> to(Page.of(character));
      case ' ' -> choose(rows, false);
      case 's' -> sort = sort.next();
      case 'u' -> bits = !bits;
      case 'p' -> paused = !paused;
      case 'e' -> {
        errorsOnly = !errorsOnly;
        cursor = 0;
      }
      case 'h', '?' -> help = true;
      case '+' -> {
        interval = Math.min(interval + 1, INTERVALS.length - 1);
        return Wish.INTERVAL;
      }
      case '-' -> {
        interval = Math.max(interval - 1, 0);
        return Wish.INTERVAL;
      }
      case 'r' -> {
        return Wish.RESCAN;
      }
      case 'z' -> {
        return Wish.SET_BASE;
      }
      default -> {}
    }
    return Wish.NOTHING;
  }

  private void to(Page next) {
    if (page != next) {
      cursor = 0;
    }
    page = next;
  }

  /** Chooses the port under the cursor, or no longer; then shows those that are chosen. */
  private void choose(List<PortLine> rows, boolean show) {
    if ((page != Page.PORTS && page != Page.FABRIC) || cursor >= rows.size()) {
      return;
    }
    PortId id = rows.get(cursor).port().id();
    if (!show && chosen.remove(id)) {
      return;
    }
    chosen.add(id);
    while (chosen.size() > MAX_CHOSEN) {
      chosen.remove(chosen.iterator().next());
    }
    if (show) {
      to(Page.SIDE);
    }
  }

  Page page() {
    return page;
  }

  Sort sort() {
    return sort;
  }

  double seconds() {
    return INTERVALS[interval];
  }

  int cursor() {
    return cursor;
  }

  boolean bits() {
    return bits;
  }

  boolean paused() {
    return paused;
  }

  boolean errorsOnly() {
    return errorsOnly;
  }

  boolean help() {
    return help;
  }

  Set<PortId> chosen() {
    return chosen;
  }
}
