// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.engine.Engine;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The windows of a rank. While ranks reach one of them only by messages, a thread makes progress
 * every millisecond, so that they are served although this rank computes.
 */
public final class Windows implements AutoCloseable {
  private static final long INTERVAL_NS = 1_000_000;
  private static final int POLLS_AFTER_PROGRESS = 100;

  private final Engine engine;
  private final Consumer<Throwable> onFailure;

  /** Messages that have come; guarded by the engine's lock. */
  private final ArrayDeque<Inbox> ready = new ArrayDeque<>();

  private final List<Window> byMessages = new CopyOnWriteArrayList<>();

  /** How many windows are open; guarded by this. */
  private int open;

  private Thread server;

  /**
   * For a rank.
   *
   * @param engine its
   * @param onFailure ends the rank: the thread has failed, so nobody may wait for accesses any more
   */
  public Windows(Engine engine, Consumer<Throwable> onFailure) {
    this.engine = engine;
    this.onFailure = onFailure;
  }

  ArrayDeque<Inbox> ready() {
    return ready;
  }

  private void serve() {
    for (Inbox inbox = ready.poll(); inbox != null; inbox = ready.poll()) {
      inbox.window.serve(inbox);
    }
  }

  synchronized void opened(Window window) {
    if (open++ == 0) {
      engine.onProgress(this::serve);
    }
    if (window.isReachedByMessages()) {
      byMessages.add(window);
      if (server == null) {
        server = new Thread(this::run, "talaria-mpj-windows");
        server.setDaemon(true);
        server.start();
      }
    }
  }

  synchronized void closed(Window window) {
    byMessages.remove(window);
    if (byMessages.isEmpty()) {
      close();
    }
    if (--open == 0) {
      engine.onProgress(null);
    }
  }

  /** Stops the thread. */
  @Override
  public synchronized void close() {
    Thread running = server;
    server = null;
    LockSupport.unpark(running);
  }

  private synchronized boolean stopped() {
    return server != Thread.currentThread();
  }

  private void run() {
    try {
      serveWhileOpen();
    } catch (RuntimeException | Error e) {
      // Nothing of note if the engine was closed.
      if (!stopped() && !engine.isClosed()) {
        onFailure.accept(e);
      }
    }
  }

  private void serveWhileOpen() {
    int polls = 0;
    while (!stopped()) {
      boolean served = engine.progressIfIdle();
      for (Window window : byMessages) {
        // Ranks of this host release a lock without a message.
        if (window.hasLockRequests()) {
          engine.locked(window::grantWaiting);
        }
      }
      if (served) {
        polls = POLLS_AFTER_PROGRESS;
      } else if (polls > 0) {
        polls--;
        Thread.yield();
      } else {
        LockSupport.parkNanos(INTERVAL_NS);
      }
    }
  }
}
