// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import java.util.concurrent.locks.LockSupport;

/** A thread that makes progress for virtual threads, which must not sleep in native code. */
final class Helper implements Runnable {
  private final Engine engine;
  private volatile Thread thread;
  private volatile boolean stopped;

  Helper(Engine engine) {
    this.engine = engine;
  }

  /** Starts or wakes it. Called under the engine's lock. */
  void start() {
    Thread running = thread;
    if (running == null) {
      running = new Thread(this, "talaria-mpj-progress");
      running.setDaemon(true);
      thread = running;
      running.start();
    } else {
      LockSupport.unpark(running);
    }
  }

  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  @Override
  public void run() {
    while (!stopped) {
      if (engine.helpWanted()) {
        try {
          engine.help();
        } catch (RuntimeException | Error e) {
          // Nothing of note if the engine was closed.
          engine.helpFailed(e);
          return;
        }
      } else {
        LockSupport.park(this);
      }
    }
  }
}
