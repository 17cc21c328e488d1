// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;

/**
 * Parks; the transport wakes whoever waits for a stream that {@link TransportStream#wakesByItself}.
 */
final class SelfWakingSleep extends TransportSleep {
  /**
   * The longest sleep of a reader that waits for the session and TCP, or the transport, at once.
   */
  private static final long BETWEEN_NS = 5_000_000L;

  SelfWakingSleep(Lane lane, TransportStream stream, ConnectionCounters counters) {
    super(lane, stream, counters);
  }

  @Override
  void sleep(int op, long timeoutNs) throws IOException {
    if (announce(op, TransportStream.NO_DOORBELL)) {
      if (op == TransportStream.READ) {
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
      if (stream.readiness(TransportStream.READ) == 0) {
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
    if (stream.readiness(TransportStream.WRITE) == 0) {
      lane.controlReadable();
    }
  }

  @Override
  boolean over(int op) {
    return stream.readiness(op) != 0;
  }
}
