// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.StreamOwner;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A channel that does nothing by itself, and counts how often it is woken. */
class FakeOwner implements StreamOwner {
  private final Semaphore woken = new Semaphore(0);

  /** Forgets what has woken it so far. */
  final void forget() {
    woken.drainPermits();
  }

  /** Waits until somebody wakes it, or has since it forgot. */
  final void assertWoken() throws InterruptedException {
    assertThat(woken.tryAcquire(Itself.LIMIT_NS, TimeUnit.NANOSECONDS)).as("woken").isTrue();
  }

  @Override
  public void wake() {
    woken.release();
  }

  @Override
  public boolean ring() {
    return true;
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
