// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.stream;

import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportStream;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** One end of a connection, with an owner whose doorbells are semaphores. */
final class StreamEnd implements StreamOwner {
  private static final long DEADLINE_S = 30;

  final TransportStream stream;
  StreamEnd other;
  private final Semaphore doorbell = new Semaphore(0);

  StreamEnd(TransportStream stream) {
    this.stream = stream;
    stream.owner(this, this);
  }

  /** A doorbell on the control connection, of a transport that needs one. */
  @Override
  public boolean ring() {
    other.doorbell.release();
    return true;
  }

  /** What a transport does that wakes by itself. */
  @Override
  public void wake() {
    doorbell.release();
  }

  /** Sleeps as a blocking call does, once; a doorbell that does not come is a lost wake-up. */
  void sleep(int op) throws InterruptedException {
    doorbell.drainPermits();
    if (stream.await(op) && !doorbell.tryAcquire(DEADLINE_S, TimeUnit.SECONDS)) {
      throw new AssertionError("no wake-up; ready now: " + stream.readiness(op) + " of " + op);
    }
    stream.awake(op);
  }

  @Override
  public void woken() {}

  @Override
  public void released() {}

  @Override
  public void stalled() {}

  @Override
  public void buffersChanged(int inBytes, int outBytes) {}
}
