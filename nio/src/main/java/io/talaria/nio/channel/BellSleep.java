// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.bell.BellAudit;
import io.talaria.nio.bell.BellPool;
import io.talaria.nio.bell.ThreadBell;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.memory.Faults;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Sleeps until the peer rings. A platform thread does so on a bell of its own, once both directions
 * are on the fabric and the peer has that bell open; else the peer rings the control connection.
 */
final class BellSleep extends FabricSleep implements ThreadBell.Sleeper {
  /**
   * For a virtual thread that reads: no wake-up can miss it, and ten thousand of them that looked
   * twice a second would keep a core busy.
   */
  private static final long VIRTUAL_LOOK_AGAIN_NS = 30_000_000_000L;

  private final BellPool pool = BellPool.ofProcess();
  private final BellAudit audit;

  /** The bells of the last sleeps, which the peer knows. Under the read lock, the write lock. */
  private ThreadBell readersBell;

  private ThreadBell writersBell;

  BellSleep(Lane lane, FabricStream stream, ConnectionCounters counters, BellAudit audit) {
    super(lane, stream, counters);
    this.audit = audit;
  }

  @Override
  void sleep(int op, long timeoutNs) throws IOException {
    ThreadBell bell = lease(op);
    try {
      boolean rings = bell != null && stream.rings(bell.number());
      if (bell != null && !rings && !pool.plenty(bell)) {
        ThreadBell wanted = bell;
        bell = null;
        wanted.giveBack(); // others may be able to sleep on it
      }
      if (announce(op, rings ? bell.number() : FabricStream.NO_BELL)) {
        if (rings) {
          sleepOn(bell, op, timeoutNs);
        } else if (op == FabricStream.READ) {
          readOnControl(timeoutNs);
        } else {
          writeOnControl();
        }
      }
      awake(op);
    } finally {
      if (bell != null) {
        bell.giveBack();
      }
    }
  }

  // ---- on a bell

  /** A bell to sleep on, or to be told to the peer for the next sleep; null if there is none. */
  private ThreadBell lease(int op) {
    if (!lane.switched() || !stream.ringsBells() || JdkNio.isVirtual(Thread.currentThread())) {
      return null;
    }
    Faults.poll(1); // what that look has met is not to come up with a bell in hand
    boolean reads = op == FabricStream.READ;
    ThreadBell bell = pool.lease(reads ? readersBell : writersBell);
    if (bell != null) {
      if (reads) {
        readersBell = bell;
      } else {
        writersBell = bell;
      }
    }
    return bell;
  }

  private void sleepOn(ThreadBell bell, int op, long timeoutNs) throws IOException {
    if (lane.waiter().sleep(place(op), bell, this, op, timeoutNs)) {
      counters.bellReceived();
    }
  }

  @Override
  public BellAudit audit() {
    return audit;
  }

  /** Who sleeps on a bell does not see how the control connection ends: that is seen here. */
  @Override
  public boolean ready(int op) {
    if (lane.closing()) {
      return false; // it is on its way out
    }
    if (lane.link().drain(false)) {
      lane.wake(); // what was for another
    }
    return stream.readiness(op) != 0;
  }

  // ---- on the control connection

  private void readOnControl(long timeoutNs) throws IOException {
    boolean patient = !stream.unread() && JdkNio.isVirtual(Thread.currentThread());
    long limitNs = shorter(timeoutNs, patient ? VIRTUAL_LOOK_AGAIN_NS : LOOK_AGAIN_NS);
    if (lane.waiter().sleep(ControlWaiter.READER, JdkNio.READABLE, limitNs) && lane.switchedIn()) {
      lane.link().drain(false);
    }
  }

  private void writeOnControl() throws IOException {
    if (lane.deaf()) {
      LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(Lane.DEAF_LOOK_MS));
    } else if (lane.waiter().sleep(ControlWaiter.WRITER, JdkNio.READABLE, LOOK_AGAIN_NS)) {
      lane.controlReadable();
    }
  }

  @Override
  boolean over(int op) {
    return false; // its bell comes, and lies there until it is read
  }
}
