// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;

/**
 * How threads in blocking calls sleep on an accelerated connection, and how they are woken there: a
 * strategy, since some transports ring doorbells and others wake by themselves.
 */
abstract sealed class TransportSleep permits DoorbellSleep, SelfWakingSleep {
  /** Longest sleep of one thread before it looks again by itself. */
  static final long LOOK_AGAIN_NS = 500_000_000L;

  final ConnectionPath connectionPath;
  final TransportStream stream;
  final ConnectionCounters counters;

  TransportSleep(
      ConnectionPath connectionPath, TransportStream stream, ConnectionCounters counters) {
    this.connectionPath = connectionPath;
    this.stream = stream;
    this.counters = counters;
  }

  /**
   * Announces the wait of a reader or a writer, looks once more, and sleeps until there may be what
   * it waits for, or something has happened to the connection. Under the read or write lock.
   *
   * @param op READ or WRITE of {@link TransportStream}
   * @param timeoutNs nanoseconds, or 0 for no limit; what is longer may be slept in parts
   */
  abstract void sleep(int op, long timeoutNs) throws IOException;

  /**
   * Whether a thread that is about to sleep has nothing to wait for, as far as the transport tells.
   */
  abstract boolean over(int op);

  /**
   * Announces a wait; {@link #awake} must follow.
   *
   * @param doorbell which the peer is to ring, or {@link TransportStream#NO_DOORBELL}
   * @return false if there is something already
   */
  final boolean announce(int op, int doorbell) {
    boolean wait = stream.await(op, doorbell) && !connectionPath.link().over();
    Faults.take();
    if (wait) {
      counters.slept();
    }
    return wait;
  }

  final void awake(int op) {
    stream.awake(op);
    Faults.take();
  }

  static int place(int op) {
    return op == TransportStream.READ ? ControlWaiter.READER : ControlWaiter.WRITER;
  }

  static long shorter(long timeoutNs, long maxNs) {
    return timeoutNs == 0 ? maxNs : Math.min(timeoutNs, maxNs);
  }
}
