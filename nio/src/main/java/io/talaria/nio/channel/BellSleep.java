// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Sleeps on the control connection, on which the peer rings. */
final class BellSleep extends FabricSleep {
  /**
   * For a virtual thread that reads: no wake-up can miss it, and ten thousand of them that looked
   * twice a second would keep a core busy.
   */
  private static final long VIRTUAL_LOOK_AGAIN_NS = 30_000_000_000L;

  BellSleep(Lane lane, FabricStream stream) {
    super(lane, stream);
  }

  @Override
  void read(long timeoutNs) throws IOException {
    boolean patient = !stream.unread() && JdkNio.isVirtual(Thread.currentThread());
    long limitNs = shorter(timeoutNs, patient ? VIRTUAL_LOOK_AGAIN_NS : LOOK_AGAIN_NS);
    if (lane.waiter().sleep(ControlWaiter.READER, JdkNio.READABLE, limitNs) && lane.switchedIn()) {
      lane.link().drain(false);
    }
  }

  @Override
  void write() throws IOException {
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
