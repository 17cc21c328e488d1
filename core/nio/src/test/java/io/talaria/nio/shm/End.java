// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/** One end of a connection, whose control connection is two semaphores. */
final class End implements StreamOwner {
  private static final long DEADLINE_S = 20;

  final ShmStream stream;

  /** Held by who writes, as a channel's write lock is; and by who reads. */
  final ReentrantLock writing = new ReentrantLock();

  final ReentrantLock reading = new ReentrantLock();

  /** Doorbells that arrived here. */
  final Semaphore readerDoorbell = new Semaphore(0);

  final Semaphore writerDoorbell = new Semaphore(0);

  /** Rung beside the two, for a selecting thread. */
  volatile Semaphore selectorDoorbell;

  final AtomicInteger rung = new AtomicInteger();

  /** News that came through the session. */
  final AtomicInteger woken = new AtomicInteger();

  /** Whether no doorbell leaves this end, as when its control connection has ended. */
  volatile boolean mute;

  End other;

  End(ShmStream stream) {
    this.stream = stream;
    stream.owner(this, this);
  }

  @Override
  public boolean ring() {
    rung.incrementAndGet();
    if (mute) {
      return false;
    }
    other.hear();
    return true;
  }

  /** What a byte on the control connection does. */
  void hear() {
    readerDoorbell.release();
    writerDoorbell.release();
    Semaphore selector = selectorDoorbell;
    if (selector != null) {
      selector.release();
    }
  }

  /** The control connection of this end has ended. */
  void controlEnded(boolean reset) {
    stream.controlEnded(reset);
    hear();
  }

  /** Sleeps as a blocking call does; a doorbell that does not come in time is a lost wake-up. */
  void sleep(int op) throws InterruptedException {
    Semaphore doorbell = op == TransportStream.READ ? readerDoorbell : writerDoorbell;
    doorbell.drainPermits();
    if (stream.await(op) && !doorbell.tryAcquire(DEADLINE_S, TimeUnit.SECONDS)) {
      throw new AssertionError(
          "no wake-up in " + DEADLINE_S + " s; ready now: " + stream.readiness(op) + " of " + op);
    }
    stream.awake(op);
  }

  @Override
  public void whileNobodyWrites(Runnable work) {
    runIfFree(writing, work);
  }

  @Override
  public void whileNobodyReads(Runnable work) {
    runIfFree(reading, work);
  }

  private static void runIfFree(ReentrantLock lock, Runnable work) {
    if (lock.tryLock()) {
      try {
        work.run();
      } finally {
        lock.unlock();
      }
    }
  }

  int write(ByteBuffer src) {
    writing.lock();
    try {
      return stream.write(src);
    } finally {
      writing.unlock();
    }
  }

  long write(ByteBuffer[] srcs) {
    writing.lock();
    try {
      return stream.write(srcs, 0, srcs.length);
    } finally {
      writing.unlock();
    }
  }

  int read(ByteBuffer dst) {
    reading.lock();
    try {
      return stream.read(dst);
    } finally {
      reading.unlock();
    }
  }

  @Override
  public void woken() {
    woken.incrementAndGet();
  }

  @Override
  public void released() {}

  @Override
  public void stalled() {}

  @Override
  public void buffersChanged(int inBytes, int outBytes) {}
}
