// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.transport.Peer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A session with a process that the test plays. The test's thread is the negotiation thread: what
 * it has to run there runs at once, and what others have for it when a message is taken.
 */
final class FakePeer implements Peer {
  /** What was sent to the peer. */
  private final Queue<ByteBuffer> sent = new ArrayDeque<>();

  private final Thread negotiation = Thread.currentThread();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final long pid;
  private final boolean betweenHosts;
  private Object attachment;

  FakePeer(long pid) {
    this(pid, false);
  }

  FakePeer(long pid, boolean betweenHosts) {
    this.pid = pid;
    this.betweenHosts = betweenHosts;
  }

  @Override
  public boolean initiator() {
    return true;
  }

  @Override
  public boolean betweenHosts() {
    return betweenHosts;
  }

  @Override
  public long pid() {
    return pid;
  }

  @Override
  public void send(ByteBuffer message) {
    synchronized (sent) {
      sent.add(ByteBuffer.allocate(message.remaining()).put(message).flip());
    }
  }

  /** The next message, or null. */
  ByteBuffer take() {
    Runnable task;
    while ((task = tasks.poll()) != null) {
      task.run();
    }
    synchronized (sent) {
      return sent.poll();
    }
  }

  @Override
  public void execute(Runnable task) {
    if (Thread.currentThread() == negotiation) {
      task.run();
    } else {
      tasks.add(task);
    }
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void attach(Object value) {
    attachment = value;
  }
}
