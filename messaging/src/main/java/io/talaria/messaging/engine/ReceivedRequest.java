// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Request;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.Objects;

/**
 * A request that came. If its request handler returns and has not answered it, it was kept for
 * later or thrown away: then the collector finds out, and whoever asked is told.
 */
final class ReceivedRequest implements Request {
  private static final VarHandle ANSWERED;

  static {
    try {
      ANSWERED =
          MethodHandles.lookup().findVarHandle(ReceivedRequest.class, "answered", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Its thread is there when the first request is kept. */
  private static final class Watch {
    static final Cleaner CLEANER = Cleaner.create();

    private Watch() {}
  }

  /** What is left of a request that nobody has any more. */
  private static final class Left implements Runnable {
    private final Connection connection;
    private final int slot;
    private final int generation;
    volatile boolean answered;

    Left(Connection connection, int slot, int generation) {
      this.connection = connection;
      this.slot = slot;
      this.generation = generation;
    }

    @Override
    public void run() {
      if (!answered && !connection.dead()) {
        connection.node.count().forgotten();
        connection
            .responses()
            .fail(
                slot,
                generation,
                MessagingException.Code.REMOTE_ERROR,
                "the request was thrown away without a response");
      }
    }
  }

  private final LocalNode node;
  private final Connection connection;
  private final int slot;
  private final int generation;
  private final long deadlineNs;

  /** By compare-and-set. */
  @SuppressWarnings("unused") // by its handle
  private volatile boolean answered;

  /** Once it is watched; set before looking at {@link #answered}, as that is before this. */
  private volatile Left left;

  ReceivedRequest(
      LocalNode node, Connection connection, int slot, int generation, long deadlineNs) {
    this.node = node;
    this.connection = connection;
    this.slot = slot;
    this.generation = generation;
    this.deadlineNs = deadlineNs;
  }

  @Override
  public Peer from() {
    return connection.peer;
  }

  @Override
  public void respond(Object response) {
    Objects.requireNonNull(response, "response");
    ThreadContext context = ThreadContext.current();
    context.mustNotBeInCodec();
    TypeEntry type = node.types().of(response);
    once();
    try {
      connection.responses().send(context, type, response, slot, generation);
    } catch (Throwable e) { // of its codec
      connection
          .responses()
          .fail(
              slot,
              generation,
              MessagingException.Code.REMOTE_ERROR,
              "the response cannot be written: " + Thrown.text(e));
      throw e;
    }
  }

  @Override
  public void fail(String text) {
    ThreadContext.current().mustNotBeInCodec();
    once();
    connection.responses().fail(slot, generation, MessagingException.Code.REMOTE_ERROR, text);
  }

  /** Its request handler has returned: unless it was answered, it is kept somewhere, or nowhere. */
  void leave() {
    if (!answered) {
      Left what = new Left(connection, slot, generation);
      left = what;
      VarHandle.fullFence();
      if (!answered) {
        Watch.CLEANER.register(this, what);
      }
    }
  }

  private boolean take() {
    boolean first = ANSWERED.compareAndSet(this, false, true);
    VarHandle.fullFence();
    Left what = left;
    if (first && what != null) {
      what.answered = true;
    }
    return first;
  }

  void failIfOpen(String text) {
    if (take()) {
      connection.responses().fail(slot, generation, MessagingException.Code.REMOTE_ERROR, text);
    }
  }

  private void once() {
    if (!take()) {
      throw new IllegalStateException("a request is answered once, and this one was");
    }
  }

  @Override
  public boolean cancelled() {
    return connection.responses().cancelled(slot, generation) || remainingNs() <= 0;
  }

  @Override
  public long remainingNs() {
    return deadlineNs == 0 ? Long.MAX_VALUE : Math.max(0, deadlineNs - System.nanoTime());
  }
}
