// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;

/**
 * Parks; the transport wakes threads that wait for a stream that {@link
 * TransportStream#wakesByItself wakes by itself}.
 */
final class SelfWakingSleep extends TransportSleep {
  /**
   * The longest sleep of a reader that waits for the session and TCP, or the transport, at once.
   */
  private static final long BETWEEN_NS = 5_000_000L;

  SelfWakingSleep(
      ConnectionPath connectionPath, TransportStream stream, ConnectionCounters counters) {
    super(connectionPath, stream, counters);
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
    if (connectionPath.switchedIn()) {
      connectionPath.waiter().park(ControlWaiter.READER, shorter(timeoutNs, LOOK_AGAIN_NS));
      if (stream.readiness(TransportStream.READ) == 0) {
        connectionPath.link().drain(false); // it may have ended
      }
    } else if (connectionPath.link().ended()) { // and can be read for ever
      connectionPath.waiter().park(ControlWaiter.READER, shorter(timeoutNs, BETWEEN_NS));
    } else {
      connectionPath
          .waiter()
          .sleep(ControlWaiter.READER, JdkNio.READABLE, shorter(timeoutNs, BETWEEN_NS));
    }
  }

  private void write() {
    connectionPath.waiter().park(ControlWaiter.WRITER, LOOK_AGAIN_NS);
    if (stream.readiness(TransportStream.WRITE) == 0) {
      connectionPath.controlReadable();
    }
  }

  @Override
  boolean over(int op) {
    return stream.readiness(op) != 0;
  }
}
