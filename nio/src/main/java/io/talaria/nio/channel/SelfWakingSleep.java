// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;

/** Parks; the fabric wakes whoever waits for a stream that {@link FabricStream#wakesByItself}. */
final class SelfWakingSleep extends FabricSleep {
  /** The longest sleep of a reader that waits for the session and TCP, or the fabric, at once. */
  private static final long BETWEEN_NS = 5_000_000L;

  SelfWakingSleep(Lane lane, FabricStream stream, ConnectionCounters counters) {
    super(lane, stream, counters);
  }

  @Override
  void sleep(int op, long timeoutNs) throws IOException {
    if (announce(op, FabricStream.NO_DOORBELL)) {
      if (op == FabricStream.READ) {
        read(timeoutNs);
      } else {
        write();
      }
    }
    awake(op);
  }

  private void read(long timeoutNs) throws IOException {
    if (lane.switchedIn()) {
      lane.waiter().park(ControlWaiter.READER, shorter(timeoutNs, LOOK_AGAIN_NS));
      if (stream.readiness(FabricStream.READ) == 0) {
        lane.link().drain(false); // it may have ended
      }
    } else if (lane.link().ended()) { // and can be read for ever
      lane.waiter().park(ControlWaiter.READER, shorter(timeoutNs, BETWEEN_NS));
    } else {
      boolean unused =
          lane.waiter()
              .sleep(ControlWaiter.READER, JdkNio.READABLE, shorter(timeoutNs, BETWEEN_NS));
    }
  }

  private void write() {
    lane.waiter().park(ControlWaiter.WRITER, LOOK_AGAIN_NS);
    if (stream.readiness(FabricStream.WRITE) == 0) {
      lane.controlReadable();
    }
  }

  @Override
  boolean over(int op) {
    return stream.readiness(op) != 0;
  }
}
