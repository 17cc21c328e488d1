// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.verbs.Access;
import io.talaria.verbs.net.CloseReason;
import io.talaria.verbs.net.Connection;
import io.talaria.verbs.net.ConnectionHandler;
import io.talaria.verbs.net.Message;
import io.talaria.verbs.net.OperationListener;
import io.talaria.verbs.net.RegisteredMemory;
import io.talaria.verbs.net.Slice;
import io.talaria.verbs.net.VerbsNode;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Messages by verbs-net, in slices as far as they fit. Its handler counts what comes, and answers
 * at once while this side only echoes: handing each message to another thread would be another
 * program.
 */
final class VerbsNetLink implements Link {
  private static final long LIMIT_NS = TimeUnit.MINUTES.toNanos(1);
  private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** How often one looks before one sleeps; with few cores the node's threads need them. */
  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 2 ? 10_000 : 0;

  private final VerbsNode node;
  private final RegisteredMemory memory;
  private final CountDownLatch connected = new CountDownLatch(1);
  private final AtomicLong arrived = new AtomicLong();
  private final AtomicLong largeUnderWay = new AtomicLong();
  private final OperationListener largeOver = (connection, token, status) -> largeIsOver();
  private volatile Connection connection;

  // The threads that sleep: sending and receiving may be two threads.
  private volatile Thread sender;
  private volatile Thread receiver;

  /** Whether the handler answers. Guarded by {@link #arrived}. */
  private boolean echoes;

  /** There may be room again. */
  private volatile boolean writable;

  private volatile CloseReason ended;
  private int sizeBytes;
  private long taken;

  VerbsNetLink(VerbsNode node, int maxBytes) {
    this.node = node;
    memory = node.allocate(maxBytes, Access.REMOTE_READ);
  }

  /** Returns what the node tells of its connection. */
  ConnectionHandler handler() {
    return new ConnectionHandler() {
      @Override
      public void connected(Connection opened) {
        connection = opened;
        connected.countDown();
      }

      @Override
      public void message(Connection from, Message message) {
        synchronized (arrived) {
          if (echoes) {
            answer(from);
          }
          arrived.incrementAndGet();
        }
        wake(receiver);
      }

      @Override
      public void writable(Connection from) {
        writable = true;
        wake(sender);
      }

      @Override
      public void closed(Connection from, CloseReason reason) {
        ended = reason;
        wake(sender);
        wake(receiver);
      }
    };
  }

  private static void wake(Thread waiting) {
    if (waiting != null) {
      LockSupport.unpark(waiting);
    }
  }

  /** A window has room for an answer: the peer sends the next message when it has this one. */
  private void answer(Connection to) {
    Slice slice = to.borrow();
    if (slice == null || to.send(slice, sizeBytes) != Connection.SENT) {
      throw new IllegalStateException("no room for an answer");
    }
  }

  void use(Connection opened) {
    connection = opened;
  }

  void awaitConnection(int limitMs) throws IOException {
    try {
      if (!connected.await(limitMs, TimeUnit.MILLISECONDS)) {
        throw new IOException("no connection within " + limitMs + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void prepare(int size) {
    sizeBytes = size;
  }

  @Override
  public void send() throws IOException {
    try {
      int result = sizeBytes <= connection.maxBytes() ? sendSlice() : sendLarge();
      if (result != Connection.SENT) {
        throw new IOException("the connection is closed: " + ended);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted: the other side does not answer", e);
    }
  }

  private int sendSlice() throws IOException, InterruptedException {
    Slice slice = connection.awaitSlice(LIMIT_NS);
    if (slice == null) {
      throw new IOException("no slice comes back");
    }
    int result;
    while ((result = connection.send(slice, sizeBytes)) == Connection.BACK_PRESSURED) {
      awaitSpace();
    }
    return result;
  }

  private int sendLarge() throws IOException {
    int result;
    largeUnderWay.incrementAndGet();
    writable = false;
    while ((result = connection.sendLarge(memory, 0, sizeBytes, 0, largeOver))
        == Connection.BACK_PRESSURED) {
      awaitSending(() -> writable);
      writable = false;
    }
    return result;
  }

  private void largeIsOver() {
    writable = true;
    largeUnderWay.decrementAndGet();
    wake(sender);
  }

  private void awaitSpace() throws IOException, InterruptedException {
    if (!connection.awaitSpace(LIMIT_NS)) {
      throw new IOException("the other side takes nothing");
    }
  }

  @Override
  public void flush() throws IOException {
    awaitSending(() -> largeUnderWay.get() == 0);
  }

  @Override
  public void receive() throws IOException {
    receiveAll(1);
  }

  @Override
  public void receiveAll(long messages) throws IOException {
    taken += messages;
    Condition come = () -> arrived.get() >= taken;
    if (!spun(come)) {
      receiver = Thread.currentThread();
      sleep(come);
      receiver = null;
    }
  }

  @Override
  public void echo(long messages) throws IOException {
    if (sizeBytes > connection.maxBytes()) {
      Link.super.echo(messages);
      return;
    }
    long early;
    synchronized (arrived) {
      echoes = true;
      early = arrived.get() - taken;
    }
    for (long i = 0; i < early; i++) {
      send();
    }
    receiveAll(messages);
    synchronized (arrived) {
      echoes = false;
    }
  }

  /** What is waited for. */
  @FunctionalInterface
  private interface Condition {
    boolean holds();
  }

  private void awaitSending(Condition condition) throws IOException {
    if (!spun(condition)) {
      sender = Thread.currentThread();
      sleep(condition);
      sender = null;
    }
  }

  private static boolean spun(Condition condition) {
    for (int i = 0; i < SPINS; i++) {
      if (condition.holds()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return condition.holds();
  }

  /**
   * Waits until the condition holds; the thread that makes it hold wakes this one, which also
   * checks now and then by itself.
   */
  private void sleep(Condition condition) throws IOException {
    while (!condition.holds()) {
      if (ended != null) {
        throw new IOException("the connection is closed: " + ended);
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new IOException("interrupted: the other side does not answer");
      }
      LockSupport.parkNanos(this, REST_NS);
    }
  }

  @Override
  public void close() {
    node.close();
  }
}
