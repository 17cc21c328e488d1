// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import java.util.concurrent.atomic.AtomicReference;
import site.ycsb.Status;

/** What went wrong with operations of a phase. Any thread may note it. */
public final class Failures {
  private final AtomicReference<String> first = new AtomicReference<>("");
  private final AtomicReference<Runnable> stop = new AtomicReference<>(() -> {});

  /** Creates an empty collection. */
  Failures() {}

  /** Sets what ends the phase at once. */
  void onLoss(Runnable action) {
    stop.set(action);
  }

  /**
   * Notes that one operation failed.
   *
   * @param message why
   * @return what to tell YCSB
   */
  public Status failed(String message) {
    first.compareAndSet("", message);
    return Status.ERROR;
  }

  /**
   * Notes that the store has gone: the phase ends.
   *
   * @param message why
   * @return what to tell YCSB
   */
  public Status lost(String message) {
    stop.get().run();
    return failed(message);
  }

  /** Returns the first message; empty if all is well. */
  String first() {
    return first.get();
  }
}
