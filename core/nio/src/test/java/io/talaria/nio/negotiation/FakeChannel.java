// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportStream;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** A connected channel, as far as the negotiation can tell. */
final class FakeChannel implements Upgradable, StreamOwner {
  private static final long DEADLINE_S = 20;

  private final ConnectionKey key;
  private final CountDownLatch attached = new CountDownLatch(1);
  private final CountDownLatch lost = new CountDownLatch(1);

  /** Whether it takes a stream. */
  volatile boolean open = true;

  /** Whether its TCP connection is over. */
  volatile boolean over;

  /** The time to live of the packets that it sends, and of the one that completed it. */
  volatile int ttl = 200;

  volatile int receivedTtl;

  /** Whether it has found its selector. */
  volatile BooleanSupplier placing = () -> true;

  /** Does something when it is given a stream. */
  volatile Runnable attaching = () -> {};

  /** Does something when it hears that it stays on TCP. */
  volatile Runnable hearing = () -> {};

  volatile TransportStream stream;
  volatile Reason reason;
  final AtomicInteger attachments = new AtomicInteger();

  FakeChannel(ConnectionKey key) {
    this.key = key;
  }

  /** A connection on the loopback address. */
  static ConnectionKey key(int clientPort, int serverPort) {
    return new ConnectionKey(
        new InetSocketAddress("127.0.0.1", clientPort),
        new InetSocketAddress("127.0.0.1", serverPort));
  }

  @Override
  public ConnectionKey key() {
    return key;
  }

  @Override
  public boolean over() {
    return over;
  }

  @Override
  public int ttl() {
    return ttl;
  }

  @Override
  public int receivedTtl() {
    return receivedTtl;
  }

  @Override
  public boolean placed() {
    return placing.getAsBoolean();
  }

  @Override
  public synchronized boolean attach(TransportStream fast) {
    if (!open) {
      return false;
    }
    attaching.run();
    attachments.incrementAndGet();
    fast.owner(this, this);
    stream = fast;
    fast.acceptInput();
    attached.countDown();
    return true;
  }

  /** Takes no stream from now on; returns the one it has. */
  synchronized TransportStream close() {
    open = false;
    return stream;
  }

  @Override
  public void plain(Reason why) {
    reason = why;
    hearing.run();
  }

  @Override
  public boolean peerLost(boolean giveUp) {
    lost.countDown();
    return giveUp;
  }

  void awaitAttached() throws InterruptedException {
    if (!attached.await(DEADLINE_S, TimeUnit.SECONDS)) {
      throw new AssertionError("no stream for " + key + ", but " + reason);
    }
  }

  void awaitLost() throws InterruptedException {
    if (!lost.await(DEADLINE_S, TimeUnit.SECONDS)) {
      throw new AssertionError("nobody told that the peer of " + key + " is lost");
    }
  }

  void awaitPlain(Reason why) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
    while (reason != why) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("expected " + why + " for " + key + ", it is " + reason);
      }
      Thread.sleep(1);
    }
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
