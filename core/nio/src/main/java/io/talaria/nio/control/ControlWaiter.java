// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.doorbell.ThreadDoorbell;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How threads in blocking calls sleep on one channel of the JDK's, which does not block, and how
 * others end that: at most one reader and one writer at a time. The first to come polls (the JDK's
 * poller for virtual threads knows one waiter per descriptor and event only); the other, if it
 * waits for the same event, parks, and is woken when the first has been. Where a transport itself
 * wakes them, both park; a thread that sleeps on a doorbell of its own has nothing to do with the
 * channel.
 */
public final class ControlWaiter {
  public static final int READER = 0;
  public static final int WRITER = 1;

  private final ControlPoll readable;
  private final ControlPoll writable;
  private final Over over;
  private volatile Thread reader;
  private volatile Thread writer;

  /** On which they sleep, if they sleep on one. */
  private volatile ThreadDoorbell readersDoorbell;

  private volatile ThreadDoorbell writersDoorbell;

  /** Whether a sleeper has nothing to wait for any more. */
  @FunctionalInterface
  public interface Over {
    /**
     * Asked by the sleeper; the thread that makes it true calls {@link #wake} afterwards.
     *
     * @param who {@link #READER} or {@link #WRITER}
     * @param event what it is about to wait for: one of {@link JdkNio}'s, or 0 for other news
     */
    boolean test(int who, int event);
  }

  /** Calls a task now and then, on another thread, until it is done. */
  @FunctionalInterface
  public interface Repeater {
    /**
     * Begins with it.
     *
     * @param done tries, and tells whether that was the last time
     */
    void repeat(BooleanSupplier done);
  }

  /**
   * @param control what is waited on; not blocking
   * @param over tells a thread that is about to sleep whether it need not
   * @param repeater sends signals again until they have arrived
   */
  public ControlWaiter(SelectableChannel control, Over over, Repeater repeater) {
    readable = new ControlPoll(control, JdkNio.READABLE, repeater);
    writable = new ControlPoll(control, JdkNio.WRITABLE, repeater);
    this.over = over;
  }

  /**
   * Sleeps until the channel has an event, a thread wakes us, or the time given is over.
   *
   * @param event of {@link JdkNio}
   * @param limitNs nanoseconds, or 0 for no limit
   * @return true if the caller is to see what there is at the channel
   */
  public boolean sleep(int who, int event, long limitNs) throws IOException {
    ControlPoll poll = event == JdkNio.READABLE ? readable : writable;
    occupy(who, Thread.currentThread());
    try {
      if (poll.enter()) {
        try {
          if (over.test(who, event)) {
            return false; // later wakers see us now; this one may have come too early
          }
          poll.poll(limitNs);
          return true;
        } finally {
          poll.leave();
          LockSupport.unpark(who == READER ? writer : reader);
        }
      }
      if (!over.test(who, event) && poll.occupied()) {
        parkFor(limitNs);
      }
      return false;
    } finally {
      occupy(who, null);
    }
  }

  /** Sleeps until a thread wakes us or the time given is over, without a look at the channel. */
  public void park(int who, long limitNs) {
    occupy(who, Thread.currentThread());
    try {
      if (!over.test(who, 0)) {
        parkFor(limitNs);
      }
    } finally {
      occupy(who, null);
    }
  }

  /**
   * Sleeps until a doorbell is rung, by the peer or by a thread that wakes us, or the time given is
   * over.
   *
   * @param doorbell leased by the caller; those that ring it for this sleep have been told already
   * @param asleep for {@link ThreadDoorbell#sleep}, with what is waited for
   * @return whether it was rung
   */
  public boolean sleep(
      int who, ThreadDoorbell doorbell, ThreadDoorbell.Sleeper asleep, int waitsFor, long limitNs)
      throws IOException {
    sleepsOn(who, doorbell);
    try {
      // A thread that makes it true from now on finds the doorbell; one that rings too late wakes
      // its next owner.
      return !over.test(who, 0) && doorbell.sleep(asleep, waitsFor, limitNs);
    } finally {
      sleepsOn(who, null);
    }
  }

  private void sleepsOn(int who, ThreadDoorbell doorbell) {
    if (who == READER) {
      readersDoorbell = doorbell;
    } else {
      writersDoorbell = doorbell;
    }
  }

  private void parkFor(long limitNs) {
    if (limitNs == 0) {
      LockSupport.park(this);
    } else {
      LockSupport.parkNanos(this, limitNs);
    }
  }

  private void occupy(int who, Thread thread) {
    if (who == READER) {
      reader = thread;
    } else {
      writer = thread;
    }
  }

  /** Wakes a sleeper, if there is one. Any thread; does not wait for it. */
  public void wake(int who) {
    ThreadDoorbell doorbell = who == READER ? readersDoorbell : writersDoorbell;
    if (doorbell != null) {
      doorbell.ring();
    }
    Thread sleeper = who == READER ? reader : writer;
    if (sleeper != null) {
      readable.wake(sleeper);
      writable.wake(sleeper);
      LockSupport.unpark(sleeper);
    }
  }

  /** Whether a thread sleeps. */
  public boolean anybodySleeps() {
    return reader != null || writer != null || readersDoorbell != null || writersDoorbell != null;
  }

  /** Wakes reader and writer, if they are asleep. Any thread. */
  public void wakeAll() {
    wake(READER);
    wake(WRITER);
  }

  /** Wakes all, and waits until no thread polls: before the descriptor is closed. */
  public void wakeAllAndAwait() {
    wakeAll();
    readable.wakeAndAwait();
    writable.wakeAndAwait();
  }
}
