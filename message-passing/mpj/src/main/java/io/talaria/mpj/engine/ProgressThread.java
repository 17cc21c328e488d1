// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A thread that makes progress while the program computes: it looks at intervals, and goes on
 * looking for a while after it has found something. It leaves a rank alone in which a thread waits,
 * because that one makes progress by itself.
 */
public final class ProgressThread implements AutoCloseable {
  private static final int POLLS_AFTER_PROGRESS = 100;

  private final Engine engine;
  private final long intervalNs;
  private final Runnable beside;
  private final Consumer<Throwable> onFailure;
  private final Thread thread;
  private volatile boolean stopped;

  /**
   * Starts it.
   *
   * @param name of the thread
   * @param engine of the rank
   * @param intervalNs how long it sleeps between two looks, nanoseconds
   * @param beside what else it does at each look
   * @param onFailure ends the rank: progress has failed, and nobody may wait for this rank any more
   */
  @SuppressWarnings("this-escape") // All fields are set when the thread starts.
  public ProgressThread(
      String name, Engine engine, long intervalNs, Runnable beside, Consumer<Throwable> onFailure) {
    this.engine = engine;
    this.intervalNs = intervalNs;
    this.beside = beside;
    this.onFailure = onFailure;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      look();
    } catch (RuntimeException | Error e) {
      // Nothing of note if the engine was closed.
      if (!stopped && !engine.isClosed()) {
        onFailure.accept(e);
      }
    }
  }

  private void look() {
    int polls = 0;
    while (!stopped) {
      boolean some = engine.progressIfIdle();
      beside.run();
      if (some) {
        polls = POLLS_AFTER_PROGRESS;
      } else if (polls > 0) {
        polls--;
        Thread.yield();
      } else {
        LockSupport.parkNanos(intervalNs);
      }
    }
  }

  /** Stops it; returns at once. */
  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
  }
}
