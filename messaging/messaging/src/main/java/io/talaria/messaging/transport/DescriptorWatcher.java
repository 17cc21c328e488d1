// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.ffi.Epoll;
import io.talaria.ffi.EventDescriptor;
import io.talaria.ffi.Libc;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that sleeps on the descriptor of a network transport in place of the poller, and wakes
 * the poller for an event: once for each time that the descriptor was armed. Needs {@code
 * io.talaria.ffi}, which is there if such a transport is.
 */
public final class DescriptorWatcher {
  private static final long JOIN_MS = 1000;

  private final int eventDescriptor;
  private final Epoll epoll;

  /** Ends the sleep of the thread. */
  private final EventDescriptor doorbell = new EventDescriptor();

  private final Thread thread;
  private Runnable wakePoller = () -> {};

  /** The poller sleeps or is about to: this thread must wake it. */
  private volatile boolean armed;

  private volatile boolean stopped;

  /**
   * Creates the thread, which does not run yet.
   *
   * @param eventDescriptor of the transport
   * @param name of the thread
   */
  public DescriptorWatcher(int eventDescriptor, String name) {
    this.eventDescriptor = eventDescriptor;
    thread = new Thread(null, this::watch, name, 0, false);
    thread.setDaemon(true);
    try {
      epoll = watching(eventDescriptor);
    } catch (RuntimeException | Error e) {
      doorbell.close();
      throw e;
    }
    epoll.add(doorbell.descriptor()); // cannot fail where the other one has not
  }

  /**
   * Creates a set with the event of a descriptor in it.
   *
   * @return the set, which the caller must close; if this method throws, it has closed everything
   */
  public static Epoll watching(int eventDescriptor) {
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
  public void start(Runnable wake) {
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

  /** The descriptor was armed: from now on the poller is woken for an event. */
  public void armed() {
    armed = true;
  }

  /** Wakes this thread after {@link #armed}, so that it sleeps on the descriptor. */
  public void resume() {
    LockSupport.unpark(thread);
  }

  /** Makes the thread end. */
  public void stop() {
    stopped = true;
    doorbell.signal();
    LockSupport.unpark(thread);
  }

  /** Waits for the end of the thread, for a second at most. */
  public void join() {
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
  public void close() {
    if (!thread.isAlive()) {
      epoll.close();
      doorbell.close();
    }
  }
}
