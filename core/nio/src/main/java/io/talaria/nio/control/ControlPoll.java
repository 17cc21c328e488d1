// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * The place of one thread that polls a channel of the JDK's for one event, and how others get it
 * out.
 *
 * <p>A platform thread is got out of its system call by a signal, which is lost if the thread has
 * not come to the call yet. So the signal is repeated until the thread has left; and it is sent
 * under the lock that the thread takes to leave, so never to a thread that has ended.
 *
 * <p>The thread inside calls {@link #enter}, {@link #poll}, {@link #leave}; any thread the others.
 * What there is to see must be published before {@link #wake}, and looked at between {@link #enter}
 * and {@link #poll}.
 */
final class ControlPoll {
  private static final long SIGNAL_EVERY_MS = 1;

  private final SelectableChannel control;
  private final int event;
  private final ControlWaiter.Repeater repeater;

  // Guarded by this.
  private Thread inside;
  private long nativeThread;

  /** Number of the visit of the thread inside, or of the last. */
  private long visit;

  /** The last visit that is being ended by repeated signals. */
  private long ending;

  ControlPoll(SelectableChannel control, int event, ControlWaiter.Repeater repeater) {
    this.control = control;
    this.event = event;
    this.repeater = repeater;
  }

  /** Takes the place; false if another thread has it. */
  synchronized boolean enter() {
    if (inside != null) {
      return false;
    }
    inside = Thread.currentThread();
    nativeThread = JdkNio.currentNativeThread();
    visit++;
    return true;
  }

  /**
   * Sleeps until the event, until woken, or for a time; may be early.
   *
   * @param limitNs nanoseconds, or 0 for no limit
   */
  void poll(long limitNs) throws IOException {
    JdkNio.park(control, event, limitNs);
  }

  synchronized void leave() {
    inside = null;
    nativeThread = 0;
    notifyAll();
  }

  synchronized boolean occupied() {
    return inside != null;
  }

  /** Gets a thread out if it is inside. Does not wait for that. */
  void wake(Thread thread) {
    long waking;
    synchronized (this) {
      if (inside != thread || ending == visit) {
        return;
      }
      signal();
      waking = visit;
      ending = visit;
    }
    repeater.repeat(() -> left(waking));
  }

  /** Whether a visit has ended; else signals once more. */
  private synchronized boolean left(long waking) {
    if (inside == null || visit != waking) {
      return true;
    }
    signal();
    return false;
  }

  private void signal() {
    assert Thread.holdsLock(this);
    JdkNio.signal(nativeThread);
    LockSupport.unpark(inside); // a virtual thread
  }

  /** Makes the thread inside leave and waits until it has: before the descriptor is closed. */
  void wakeAndAwait() {
    boolean interrupted = false;
    synchronized (this) {
      long waking = visit;
      while (inside != null && visit == waking && inside != Thread.currentThread()) {
        signal();
        try {
          wait(SIGNAL_EVERY_MS);
        } catch (InterruptedException e) {
          interrupted = true; // as its closing must continue
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
