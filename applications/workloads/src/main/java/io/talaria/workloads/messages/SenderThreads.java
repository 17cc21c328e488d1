// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/** Threads that do something at the same time. */
final class SenderThreads {
  private SenderThreads() {}

  /** What a thread does. */
  interface Work {
    void run() throws Exception;
  }

  /**
   * Does all of it, each on a thread of its own, and waits for the last.
   *
   * @throws Exception the first that one of them has thrown
   */
  static void run(List<Work> all) throws Exception {
    AtomicReference<Exception> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (Work each : all) {
      Runnable run =
          () -> {
            try {
              each.run();
            } catch (Exception e) {
              failure.compareAndSet(null, e);
            }
          };
      threads.add(Thread.ofPlatform().name("sender").start(run));
    }
    for (Thread each : threads) {
      each.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
  }
}
