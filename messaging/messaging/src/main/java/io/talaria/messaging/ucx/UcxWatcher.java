// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.Libc;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread {@code talaria-ID-ucx}, which sleeps on the descriptor of a node's UCX worker in place
 * of the poller and wakes the poller for an event: once for each time that the worker was armed.
 */
final class UcxWatcher {
  private static final long JOIN_MS = 1000;

  private final int eventDescriptor;
  private final Epoll epoll;
  private final Thread thread;
  private Runnable wakePoller = () -> {};

  /** The poller sleeps or is about to: this thread must wake it. */
  private volatile boolean armed;

  private volatile boolean stopped;

  /**
   * Creates the thread, which does not run yet.
   *
   * @param eventDescriptor of the worker
   * @param name of the thread
   */
  UcxWatcher(int eventDescriptor, String name) {
    this.eventDescriptor = eventDescriptor;
    thread = new Thread(null, this::watch, name, 0, false);
    thread.setDaemon(true);
    epoll = watching(eventDescriptor); // last, because no code would close it after a failure
  }

  /**
   * Creates a set with a worker's event in it.
   *
   * @return the set, which the caller must close; if this method throws, it has closed everything
   */
  static Epoll watching(int eventDescriptor) {
    Epoll epoll = new Epoll();
    try {
      epoll.add(eventDescriptor);
    } catch (RuntimeException | Error e) {
      epoll.close();
      throw e;
    }
    return epoll;
  }

  /** Starts the thread. */
  void start(Runnable wake) {
    wakePoller = wake;
    thread.start();
  }

  private void watch() {
    while (!stopped) {
      if (!armed) {
        LockSupport.park();
        continue;
      }
      if (epoll.await(-1)) { // false if the process was stopped and has continued
        armed = false;
        wakePoller.run();
      }
    }
  }

  /** The worker was armed: from now on the poller is woken for an event. Holder of the worker. */
  void armed() {
    armed = true;
  }

  /** Wakes this thread after {@link #armed}, so that it sleeps on the descriptor. */
  void resume() {
    LockSupport.unpark(thread);
  }

  /** Makes the thread end; if it sleeps on the descriptor, it ends at the next event. */
  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  /** Waits for the end of the thread, for a second at most. */
  void join() {
    try {
      thread.join(JOIN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** For people. */
  @Override
  public String toString() {
    return (armed ? "armed" : "not armed")
        + (stopped ? "" : Libc.awaitReadable(eventDescriptor, 0) ? ", event" : ", no event");
  }

  /** Closes the set if the thread has ended. */
  void close() {
    if (!thread.isAlive()) {
      epoll.close();
    }
  }
}
