// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Shows how far a measurement is: a bar on a terminal, else a line for each step. {@link #step} and
 * {@link #say} are for one thread, {@link #close} for any; the bar is drawn by a thread of its own,
 * twice a second, so as not to disturb what is measured.
 */
public final class Progress implements AutoCloseable {
  private static final int WIDTH = 32;
  private static final long REDRAW_MS = 500;
  private static final String CLEAR = "\r\u001b[2K";

  private final PrintWriter out;
  private final boolean terminal;
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
   * @param terminal whether that is a terminal
   * @param totalMs how long everything will take, about
   */
  public Progress(PrintWriter out, boolean terminal, double totalMs) {
    this.out = out;
    this.terminal = terminal;
    this.totalMs = totalMs;
    this.drawer = new Thread(this::redraw, "talaria-progress");
    if (terminal) {
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
    if (terminal) {
      draw();
    } else {
      out.println(name);
      out.flush();
    }
  }

  /**
   * Says how far the step is.
   *
   * @param how how far
   */
  public synchronized void say(String how) {
    stage = ": " + how;
    if (terminal) {
      draw();
    } else {
      out.println(what + stage);
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
      if (terminal) {
        out.print(CLEAR);
      }
      out.flush();
    }
    drawer.interrupt();
  }
}
