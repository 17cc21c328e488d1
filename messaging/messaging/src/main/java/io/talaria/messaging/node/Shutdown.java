// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.MessagingException;
import io.talaria.messaging.Node;
import io.talaria.messaging.dispatch.Handlers;
import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.engine.Poller;
import io.talaria.messaging.engine.ResponseSlots;
import io.talaria.messaging.records.ThreadContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Closes a node: when the program asks for it, or when the process exits. Waits until what was sent
 * was delivered, says goodbye to the peers, and ends the node's threads.
 */
final class Shutdown {
  /** How long the exit of the process waits for deliveries, and {@link #run} for threads. */
  private static final long EXIT_NS = 2_000_000_000L;

  /** How long {@link #run} waits for the poller, and for the other ends of connections to close. */
  private static final long END_NS = 1_000_000_000L;

  private final AtomicBoolean closed;
  private final Handlers handlers;
  private final Poller poller;
  private final Connector connector;
  private final ResponseSlots responseSlots;
  private final Thread exitHook = new Thread(() -> run(Duration.ofNanos(EXIT_NS)), "talaria-exit");

  /**
   * For a node's parts.
   *
   * @param closed set when this begins
   */
  Shutdown(
      AtomicBoolean closed,
      Handlers handlers,
      Poller poller,
      Connector connector,
      ResponseSlots responseSlots) {
    this.closed = closed;
    this.handlers = handlers;
    this.poller = poller;
    this.connector = connector;
    this.responseSlots = responseSlots;
  }

  /**
   * Has the node closed when the process exits.
   *
   * @throws IllegalStateException if it is exiting already
   */
  void runAtExit() {
    Runtime.getRuntime().addShutdownHook(exitHook);
  }

  /** See {@link Node#close(Duration)}. */
  long run(Duration timeout) {
    if (!closed.compareAndSet(false, true)) {
      return 0;
    }
    boolean inside = ThreadContext.current().poller || connector.isCurrentThread();
    long deadline = System.nanoTime() + (inside ? 0 : RemotePeer.nanos(timeout));
    connector.closeListeners();
    List<Connection> all = connector.connections();
    await(deadline, () -> settled(all));
    tellDelivered(all, Math.min(deadline, System.nanoTime() + END_NS));
    for (Connection each : all) {
      if (each.link().session() != null && !each.dead()) {
        each.closing().leaving = true;
        each.closing().sealMessages();
        each.closing().tellEnd();
      }
      each.sender().seal();
    }
    poller.wake();
    await(deadline, () -> settled(all));
    awaitEnds(all, Math.min(deadline, System.nanoTime() + END_NS));
    long left = 0;
    for (Connection each : all) {
      left += each.unconsumedBytes();
      responseSlots.failAll(each, MessagingException.Code.CLOSED, "this node was closed");
    }
    handlers.stop();
    connector.stopSoon();
    if (!inside) {
      awaitThreads(deadline);
    }
    try {
      Runtime.getRuntime().removeShutdownHook(exitHook);
    } catch (IllegalStateException e) {
      // The process is exiting.
    }
    return left;
  }

  private boolean settled(List<Connection> all) {
    for (Connection each : all) {
      if (!each.dead()
          && ((each.sender().unconsumedBytes() != 0 && !each.sendingEnded())
              || !each.outbox().isEmpty()
              || !each.deliveries.none())) {
        return false;
      }
    }
    return handlers.isEmpty();
  }

  /**
   * Has the poller tell what was delivered, which it does at the end of its turn, and on a stream
   * at intervals. Else the peers would count that as lost.
   */
  private void tellDelivered(List<Connection> all, long deadline) {
    AtomicBoolean told = new AtomicBoolean();
    poller.execute(
        () -> {
          try {
            for (Connection each : all) {
              if (!each.dead()) {
                each.receiver().tellRest();
              }
            }
          } finally {
            told.set(true);
          }
        });
    await(deadline, told::get);
  }

  /**
   * Finishes the output of drained connections, and waits for the other ends to close, so that no
   * bytes on their way are lost.
   */
  private void awaitEnds(List<Connection> all, long deadline) {
    for (Connection each : all) {
      if (!each.dead() && each.sender().unconsumedBytes() == 0) {
        each.link().finishOutput();
      }
    }
    await(
        deadline,
        () -> {
          poller.wake();
          return all.stream().allMatch(each -> each.dead() || each.link().session() == null);
        });
  }

  private void awaitThreads(long deadline) {
    try {
      long ended = System.nanoTime() + EXIT_NS;
      handlers.awaitStopped(Math.min(ended, deadline + EXIT_NS / 4));
      connector.awaitEnd(EXIT_NS / 1_000_000);
      poller.join(EXIT_NS / 1_000_000);
      // Consumers of open requests, which the conductor may have ended. They may hang.
      await(System.nanoTime() + EXIT_NS / 4, handlers::noneOutlives);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(long deadline, BooleanSupplier condition) {
    while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(500_000);
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
    }
  }
}
