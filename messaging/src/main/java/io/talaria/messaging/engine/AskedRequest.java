// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Peer;
import io.talaria.messaging.Request;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/** A question that came. */
final class AskedRequest implements Request {
  private final LocalNode node;
  private final Connection connection;
  private final int slot;
  private final int generation;
  private final long deadlineNs;
  private final AtomicBoolean answered = new AtomicBoolean();

  AskedRequest(LocalNode node, Connection connection, int slot, int generation, long deadlineNs) {
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
  public void answer(Object answer) {
    Objects.requireNonNull(answer, "answer");
    ThreadContext context = ThreadContext.current();
    context.mustNotBeInCodec();
    TypeEntry type = node.types().of(answer);
    once();
    try {
      connection.answer(context, type, answer, slot, generation);
    } catch (RuntimeException | Error e) {
      connection.answerFailure(
          slot,
          generation,
          MessagingException.Code.FAILED_THERE,
          "the answer cannot be written: " + e);
      throw e;
    }
  }

  @Override
  public void fail(String text) {
    ThreadContext.current().mustNotBeInCodec();
    once();
    connection.answerFailure(slot, generation, MessagingException.Code.FAILED_THERE, text);
  }

  void failIfOpen(String text) {
    if (answered.compareAndSet(false, true)) {
      connection.answerFailure(slot, generation, MessagingException.Code.FAILED_THERE, text);
    }
  }

  private void once() {
    if (!answered.compareAndSet(false, true)) {
      throw new IllegalStateException("a question is answered once, and this one was");
    }
  }

  @Override
  public boolean cancelled() {
    return connection.isCancelled(slot, generation) || remainingNs() <= 0;
  }

  @Override
  public long remainingNs() {
    return deadlineNs == 0 ? Long.MAX_VALUE : Math.max(0, deadlineNs - System.nanoTime());
  }
}
