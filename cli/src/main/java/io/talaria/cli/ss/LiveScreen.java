// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.Terminal;
import java.io.PrintWriter;
import java.util.List;

/**
 * A terminal's alternate screen, refreshed in place. Whatever ends the view, a signal too, the
 * terminal shows again what it showed before. {@link #show} and {@link #close} are for one thread.
 */
final class LiveScreen implements AutoCloseable {
  /** To the alternate screen, without a cursor. */
  static final String ENTER = "\u001b[?1049h\u001b[?25l";

  /** Back, with the cursor. */
  static final String LEAVE = "\u001b[?25h\u001b[?1049l";

  private static final String HOME = "\u001b[H";
  private static final String CLEAR_LINE = "\u001b[K";
  private static final String CLEAR_BELOW = "\u001b[J";

  private final PrintWriter out;
  private final Thread atExit = new Thread(this::leave, "talaria-restore-terminal");

  /** Guarded by this. */
  private boolean left;

  /** Takes the screen. */
  LiveScreen(PrintWriter out) {
    this.out = out;
    Runtime.getRuntime().addShutdownHook(atExit);
    print(ENTER);
  }

  /**
   * Shows lines, cut at the screen's edges.
   *
   * @param lines what to show, at most as many as there are rows
   * @param size the screen
   */
  void show(List<String> lines, Terminal.Size size) {
    StringBuilder all = new StringBuilder(HOME);
    for (int i = 0; i < Math.min(lines.size(), size.rows()); i++) {
      // No line feed behind the last one: it would scroll.
      all.append(i == 0 ? "" : "\r\n").append(Show.cut(lines.get(i), size.columns()));
      all.append(CLEAR_LINE);
    }
    print(all.append(CLEAR_BELOW).toString());
  }

  private synchronized void print(String text) {
    if (!left) {
      out.print(text);
      out.flush();
    }
  }

  private synchronized void leave() {
    print(LEAVE);
    left = true;
  }

  @Override
  public void close() {
    leave();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // It runs, and finds nothing to do.
    }
  }
}
