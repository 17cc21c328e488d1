// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Request;
import io.talaria.messaging.dispatch.Thrown;
import io.talaria.messaging.records.ThreadContext;
import io.talaria.messaging.types.TypeEntry;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.Objects;

/**
 * A request that was received and needs one response.
 *
 * <p>If its request handler returns without a response, the program has either kept the request or
 * dropped it. In the second case the garbage collector finds this object unreachable, and the
 * requester gets a failure.
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

  /** In a class of its own, so that the cleaner's thread starts only if a request is kept. */
  private static final class Watch {
    static final Cleaner CLEANER = Cleaner.create();

    private Watch() {}
  }

  /** Fails a request that became unreachable unanswered. Must not refer to the request itself. */
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
        connection.node.counts().unanswered();
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

  private final Connection connection;
  private final int slot;
  private final int generation;
  private final long deadlineNs;

  @SuppressWarnings("unused") // written through ANSWERED
  private volatile boolean answered;

  /**
   * The cleaner's part, from {@link #leave} on; else null. {@link #leave} writes this before it
   * reads {@link #answered}, and {@link #take} writes {@link #answered} before it reads this. So
   * one of them sees the other (all are volatile accesses), and a request that was answered is
   * never failed by the cleaner.
   */
  private volatile Left left;

  ReceivedRequest(Connection connection, int slot, int generation, long deadlineNs) {
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
    TypeEntry type = context.typeOf(connection.node.types(), response);
    once();
    try {
      connection.responses().send(context, type, response, slot, generation);
    } catch (Throwable e) { // thrown by the codec
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

  /** Called after the request handler has returned: watches the request if it is unanswered. */
  void leave() {
    if (!answered) {
      Left what = new Left(connection, slot, generation);
      left = what;
      if (!answered) {
        Watch.CLEANER.register(this, what);
      }
    }
  }

  /** Marks the request as answered; true for the first caller. */
  private boolean take() {
    boolean first = ANSWERED.compareAndSet(this, false, true);
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
