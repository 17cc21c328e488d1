// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.fabric.Peer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A session with a process that the test plays. What runs on the negotiation thread runs at once.
 */
final class FakePeer implements Peer {
  /** What was sent to the peer. */
  final Queue<ByteBuffer> sent = new ArrayDeque<>();

  private final long pid;
  private Object attachment;

  FakePeer(long pid) {
    this.pid = pid;
  }

  @Override
  public boolean initiator() {
    return true;
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
    synchronized (sent) {
      return sent.poll();
    }
  }

  @Override
  public void execute(Runnable task) {
    task.run();
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
