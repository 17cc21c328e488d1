// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.ProgressThread;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The windows of a rank. While ranks reach one of them only by messages, a thread makes progress
 * every millisecond, so that they are served although this rank computes.
 */
public final class Windows implements AutoCloseable {
  private static final long INTERVAL_NS = 1_000_000;

  private final Engine engine;
  private final Consumer<Throwable> onFailure;

  /** Messages that have come; guarded by the engine's lock. */
  private final ArrayDeque<Inbox> ready = new ArrayDeque<>();

  private final List<Window> byMessages = new CopyOnWriteArrayList<>();

  /** How many windows are open; guarded by this. */
  private int open;

  private ProgressThread server;

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
        server =
            new ProgressThread(
                "talaria-mpj-windows", engine, INTERVAL_NS, this::grantWaiting, onFailure);
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
    if (server != null) {
      server.close();
      server = null;
    }
  }

  /** Ranks of this host release a lock without a message. */
  private void grantWaiting() {
    for (Window window : byMessages) {
      if (window.hasLockRequests()) {
        engine.locked(window::grantWaiting);
      }
    }
  }
}
