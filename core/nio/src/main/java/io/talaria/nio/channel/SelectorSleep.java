// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.transport.SelectorReadySets;
import java.io.IOException;

/**
 * How a selector waits: it spins, then sleeps in the JDK's selector. Confined to the selecting
 * thread, except what is marked.
 */
final class SelectorSleep {
  /** Passes between two looks at the clock while spinning. */
  private static final int SPIN_PASSES = 16;

  private final InnerSelector inner;
  private final SelectorReadySets readySets;
  private final ChangedKeys changes;
  private final TransportLook transports;
  private final ReadyKeys ready;
  private final Spinner spinner;

  /** The program wants the select to return. */
  private volatile boolean wakeUp;

  private volatile boolean sleeping;

  SelectorSleep(
      InnerSelector inner,
      SelectorReadySets readySets,
      ChangedKeys changes,
      TransportLook transports,
      ReadyKeys ready,
      Spinner spinner) {
    this.inner = inner;
    this.readySets = readySets;
    this.changes = changes;
    this.transports = transports;
    this.ready = ready;
    this.spinner = spinner;
  }

  // ---- any thread

  /** Ends this wait, or the next, until {@link #forgetWakeUp}. */
  void wakeUp() {
    if (!wakeUp) {
      wakeUp = true;
      wakeSleeper();
    }
  }

  /** The same, and for ever: a selector that closes must not be asleep. */
  void wakeUpForClose() {
    wakeUp = true;
    inner.wakeup();
  }

  /** Has a sleeper look again; a change that it must see is queued already. */
  void wakeSleeper() {
    if (sleeping) {
      inner.wakeup();
    }
  }

  // ---- the selecting thread

  boolean wokenUp() {
    return wakeUp;
  }

  /** Before the program's first action, else at the end of a select. */
  void forgetWakeUp() {
    wakeUp = false;
  }

  /**
   * Looks at the transports again and again for a while, as far as that is granted; before that
   * once at the JDK's selector, if only it can tell something.
   *
   * @return whether it was granted
   */
  @NotInlined
  boolean spin(long deadlineNs) throws IOException {
    if (!spinner.start()) {
      return false;
    }
    try {
      if (inner.lookWhenEmpty(true)) {
        transports.pass();
      }
      while (!ready.seen() && !wakeUp) {
        for (int i = 0; i < SPIN_PASSES && !ready.seen() && !wakeUp; i++) {
          Thread.onSpinWait();
          transports.pass();
        }
        if (System.nanoTime() - deadlineNs >= 0 || !spinner.goOn()) {
          break;
        }
      }
      return true;
    } finally {
      spinner.stop(ready.seen());
    }
  }

  /**
   * Sleeps in the JDK's selector.
   *
   * @param timeoutMs milliseconds, 0 for any time
   * @return false if there was news, so that the JDK's selector has not been looked at
   */
  @NotInlined
  boolean sleep(long timeoutMs) throws IOException {
    if (!transports.prepareToSleep()) {
      return false;
    }
    boolean slept = false;
    try {
      sleeping = true;
      if (!wakeUp && !changes.some() && readySets.arm()) {
        inner.sleep(transports.anyDeaf() ? soon(timeoutMs) : timeoutMs);
        slept = true;
      }
    } finally {
      sleeping = false;
      readySets.disarm();
    }
    Faults.take();
    return slept;
  }

  /** A time-out for a selector that no doorbell wakes. */
  private static long soon(long timeoutMs) {
    return timeoutMs == 0
        ? ConnectionPath.DEAF_LOOK_MS
        : Math.min(timeoutMs, ConnectionPath.DEAF_LOOK_MS);
  }
}
