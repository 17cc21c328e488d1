// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Shows how far a measurement is: a bar on a terminal, nothing elsewhere, or a line for each step
 * where logs want it. {@link #step} and {@link #say} are for one thread, {@link #close} for any;
 * the bar is drawn by a thread of its own, twice a second, so as not to disturb what is measured.
 */
public final class Progress implements AutoCloseable {
  private static final int WIDTH = 32;
  private static final long REDRAW_MS = 500;
  private static final String CLEAR = "\r\u001b[2K";

  private static final String VARIABLE = "TALARIA_PROGRESS";

  /** How it is shown. */
  public enum Form {
    /** A bar that is drawn again and again. */
    BAR,
    /** A line for each step. */
    LINES,
    /** Not at all. */
    NONE;

    /**
     * Returns what suits the standard error of this process: {@link #LINES} if the environment asks
     * for them ({@code TALARIA_PROGRESS=lines}), a bar on a terminal, and nothing elsewhere.
     */
    public static Form wanted() {
      return wanted(System.getenv(VARIABLE), Terminal.onStandardError());
    }

    static Form wanted(String variable, boolean terminal) {
      return "lines".equals(variable) ? LINES : terminal ? BAR : NONE;
    }
  }

  private final PrintWriter out;
  private final Form form;
  private final double totalMs;
  private final Thread drawer;

  // Guarded by this.
  private String what = "";
  private String stage = "";
  private double doneMs;
  private double stepMs;
  private long stepStart = System.nanoTime();
  private boolean closed;

  /**
   * Starts to show progress.
   *
   * @param out where
   * @param form how
   * @param totalMs how long everything will take, about
   */
  public Progress(PrintWriter out, Form form, double totalMs) {
    this.out = out;
    this.form = form;
    this.totalMs = totalMs;
    this.drawer = new Thread(this::redraw, "talaria-progress");
    if (form == Form.BAR) {
      drawer.setDaemon(true);
      drawer.start();
    }
  }

  /**
   * Begins the next step.
   *
   * @param name what is done now
   * @param expectedMs how long it will take, about
   */
  public synchronized void step(String name, double expectedMs) {
    doneMs += stepMs;
    stepMs = expectedMs;
    stepStart = System.nanoTime();
    what = name;
    stage = "";
    show(name);
  }

  /**
   * Says how far the step is.
   *
   * @param how how far
   */
  public synchronized void say(String how) {
    stage = ": " + how;
    show(what + stage);
  }

  private void show(String line) {
    if (form == Form.BAR) {
      draw();
    } else if (form == Form.LINES) {
      out.println(line);
      out.flush();
    }
  }

  private void redraw() {
    try {
      while (true) {
        synchronized (this) {
          if (closed) {
            return;
          }
          draw();
        }
        TimeUnit.MILLISECONDS.sleep(REDRAW_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void draw() {
    double elapsedMs = (System.nanoTime() - stepStart) / 1e6;
    out.print(CLEAR + bar((doneMs + Math.min(elapsedMs, stepMs)) / totalMs) + " " + what + stage);
    out.flush();
  }

  /**
   * Returns a bar with its percentage.
   *
   * @param fraction how much is done, 0 to 1
   */
  static String bar(double fraction) {
    double shown = Math.max(0, Math.min(fraction, 1));
    int full = (int) Math.round(shown * WIDTH);
    return "█".repeat(full)
        + "░".repeat(WIDTH - full)
        + String.format(Locale.ROOT, " %3d %%", Math.round(shown * 100));
  }

  /** Ends the display; a bar disappears. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      if (form == Form.BAR) {
        out.print(CLEAR);
      }
      out.flush();
    }
    drawer.interrupt();
  }
}
