// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import java.util.Map;
import java.util.function.Consumer;

/**
 * Notices a case that hangs. It counts its own ticks, so a process that was stopped as a whole does
 * not count as hanging.
 */
final class Watch implements AutoCloseable {
  private static final int TICK_MS = 100;
  private static final int MAX_TICKS = 600;

  private final Consumer<String> report;
  private final Thread thread;
  private volatile int ticks;
  private volatile boolean over;

  /**
   * @param report told once, with the stacks of all threads, if nothing has gone on for a minute
   */
  Watch(Consumer<String> report) {
    this.report = report;
    thread = new Thread(this::run, "fuzz-watch");
    thread.setDaemon(true);
    thread.start();
  }

  /** Something has gone on. */
  void beat() {
    ticks = 0;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // a beat in the same moment may be lost
  private void run() {
    while (!over) {
      try {
        Thread.sleep(TICK_MS);
      } catch (InterruptedException e) {
        return;
      }
      if (++ticks == MAX_TICKS) {
        report.accept("nothing has gone on for " + MAX_TICKS * TICK_MS / 1000 + " s\n" + stacks());
        return;
      }
    }
  }

  private static String stacks() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
      text.append(entry.getKey()).append('\n');
      for (StackTraceElement frame : entry.getValue()) {
        text.append("    at ").append(frame).append('\n');
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    over = true;
    thread.interrupt();
  }
}
