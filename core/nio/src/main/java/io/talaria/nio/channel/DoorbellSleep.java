// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.doorbell.DoorbellAudit;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.doorbell.ThreadDoorbell;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Sleeps until the peer rings. A platform thread does so on a doorbell of its own, once both
 * directions are on the transport and the peer has that doorbell open; else the peer rings the
 * control connection.
 */
final class DoorbellSleep extends TransportSleep implements ThreadDoorbell.Sleeper {
  /**
   * For a virtual thread that reads: no wake-up can miss it, and ten thousand of them that looked
   * twice a second would keep a core busy.
   */
  private static final long VIRTUAL_LOOK_AGAIN_NS = 30_000_000_000L;

  private final DoorbellPool pool = DoorbellPool.ofProcess();
  private final DoorbellAudit audit;

  /**
   * The doorbells of the last sleeps, which the peer knows. Under the read lock, the write lock.
   */
  private ThreadDoorbell readersDoorbell;

  private ThreadDoorbell writersDoorbell;

  DoorbellSleep(
      ConnectionPath connectionPath,
      TransportStream stream,
      ConnectionCounters counters,
      DoorbellAudit audit) {
    super(connectionPath, stream, counters);
    this.audit = audit;
  }

  @Override
  void sleep(int op, long timeoutNs) throws IOException {
    ThreadDoorbell doorbell = lease(op);
    try {
      boolean rings = doorbell != null && stream.rings(doorbell.number());
      if (doorbell != null && !rings && !pool.plenty(doorbell)) {
        ThreadDoorbell wanted = doorbell;
        doorbell = null;
        wanted.giveBack(); // others may be able to sleep on it
      }
      if (announce(op, rings ? doorbell.number() : TransportStream.NO_DOORBELL)) {
        if (rings) {
          sleepOn(doorbell, op, timeoutNs);
        } else if (op == TransportStream.READ) {
          readOnControl(timeoutNs);
        } else {
          writeOnControl();
        }
      }
      awake(op);
    } finally {
      if (doorbell != null) {
        doorbell.giveBack();
      }
    }
  }

  // ---- on a doorbell

  /**
   * A doorbell to sleep on, or to be told to the peer for the next sleep; null if there is none.
   */
  private ThreadDoorbell lease(int op) {
    if (!connectionPath.switched()
        || !stream.ringsDoorbells()
        || JdkNio.isVirtual(Thread.currentThread())) {
      return null;
    }
    Faults.poll(1); // what that look has met is not to come up with a doorbell in hand
    boolean reads = op == TransportStream.READ;
    ThreadDoorbell doorbell = pool.lease(reads ? readersDoorbell : writersDoorbell);
    if (doorbell != null) {
      if (reads) {
        readersDoorbell = doorbell;
      } else {
        writersDoorbell = doorbell;
      }
    }
    return doorbell;
  }

  private void sleepOn(ThreadDoorbell doorbell, int op, long timeoutNs) throws IOException {
    if (connectionPath.waiter().sleep(place(op), doorbell, this, op, timeoutNs)) {
      counters.wakeupReceived();
    }
  }

  @Override
  public DoorbellAudit audit() {
    return audit;
  }

  /**
   * A thread that sleeps on a doorbell does not see how the control connection ends: that is seen
   * here.
   */
  @Override
  public boolean ready(int op) {
    if (connectionPath.closing()) {
      return false; // it is on its way out
    }
    if (connectionPath.link().drain(false)) {
      connectionPath.wake(); // what was for another
    }
    return stream.readiness(op) != 0;
  }

  // ---- on the control connection

  private void readOnControl(long timeoutNs) throws IOException {
    boolean patient = !stream.unread() && JdkNio.isVirtual(Thread.currentThread());
    long limitNs = shorter(timeoutNs, patient ? VIRTUAL_LOOK_AGAIN_NS : LOOK_AGAIN_NS);
    if (connectionPath.waiter().sleep(ControlWaiter.READER, JdkNio.READABLE, limitNs)
        && connectionPath.switchedIn()) {
      connectionPath.link().drain(false);
    }
  }

  private void writeOnControl() throws IOException {
    if (connectionPath.deaf()) {
      LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(ConnectionPath.DEAF_LOOK_MS));
    } else if (connectionPath
        .waiter()
        .sleep(ControlWaiter.WRITER, JdkNio.READABLE, LOOK_AGAIN_NS)) {
      connectionPath.controlReadable();
    }
  }

  @Override
  boolean over(int op) {
    return false; // its doorbell comes, and lies there until it is read
  }
}
